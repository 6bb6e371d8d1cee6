import {
  serverCertificateRecord,
  serverCertificateStream,
  serverKeyPlace,
  type ServerCertificateInstalled,
} from '../../src/domain/certificates/server-certificate.ts';
import { tenantStream } from '../../src/domain/tenants/tenant.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import { forbidden, isFailure } from '../../src/kernel/failure.ts';
import { INSTALLATION } from '../../src/kernel/ids.ts';
import { inspectServerCertificate, type ServerCertificateUpload } from '../../src/pki/uploaded-server-certificate.ts';
import type { WithClaimHolder, WithVault } from '../ports.ts';
import { SETUP_CLAIM } from '../setup/set-up-tenant.ts';

/**
 * The certificate that the TLS listener shows from now on, on every node. The listener is everybody's, so only the tenant that set the
 * installation up may change it.
 */
export const installServerCertificate = defineCommand({
  name: 'InstallServerCertificate',
  aggregate: serverCertificateRecord,
  stream: (_upload: ServerCertificateUpload, { tenantId }) => serverCertificateStream(tenantId),
  async prepare(
    upload: ServerCertificateUpload,
    { vault, claimHolder }: WithVault & WithClaimHolder,
    { tenantId, now },
  ) {
    const founder = await claimHolder(INSTALLATION, SETUP_CLAIM);
    if (founder !== undefined && founder !== tenantStream(tenantId))
      return forbidden('the listener belongs to another tenant');
    const inspected = inspectServerCertificate(upload, now);
    if (isFailure(inspected)) return inspected;
    const { certificatePem, privateKeyPem, subject, issuer, serialNumber, fingerprintSha256, notBefore, expiresAt } =
      inspected;
    const installed: ServerCertificateInstalled = {
      certificatePem,
      privateKeyRef: await vault.put(tenantId, serverKeyPlace(tenantId), privateKeyPem),
      subject,
      issuer,
      serialNumber,
      fingerprintSha256,
      notBefore: new Date(notBefore).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
    };
    return installed;
  },
  decide({ privateKeyRef }, _upload, _context, installed: ServerCertificateInstalled) {
    return acceptWith({ installed }, [{ type: 'ServerCertificateInstalled', data: installed }], {
      forget: [privateKeyRef],
    });
  },
  recall: (_before, [event]) => ({ installed: event!.data }),
  freshens: ['server_certificates'],
});
