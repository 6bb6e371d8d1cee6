import {
  serverCertificateRecord,
  serverCertificateStream,
  serverKeyLocation,
  type ServerCertificateInstalled,
} from '../../src/contexts/certificates/domain/server-certificate.ts';
import { tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { forbidden, isFailure } from '../../src/platform/kernel/failure.ts';
import { INSTALLATION } from '../../src/platform/kernel/ids.ts';
import {
  inspectServerCertificate,
  type ServerCertificateUpload,
} from '../../src/platform/pki/uploaded-server-certificate.ts';
import type { WithClaimHolder, WithVault } from '../ports.ts';
import { SETUP_CLAIM } from '../tenants/set-up-tenant.ts';

/**
 * Installs the certificate of the TLS listener on every node. All tenants share the listener, so only the tenant that
 * set up the installation may change it.
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
    if (founder !== undefined && founder !== tenantStream(tenantId)) return forbidden('listener_of_another_tenant');
    const inspected = inspectServerCertificate(upload, now);
    if (isFailure(inspected)) return inspected;
    const { certificatePem, privateKeyPem, subject, issuer, serialNumber, fingerprintSha256, notBefore, expiresAt } =
      inspected;
    const installed: ServerCertificateInstalled = {
      certificatePem,
      privateKeyRef: await vault.put(tenantId, serverKeyLocation(tenantId), privateKeyPem),
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
