import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import type { TenantEvent } from '../../src/contexts/tenants/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure, notFound } from '../../src/platform/kernel/failure.ts';
import { authorityKeyLocation } from '../../src/platform/pki/certificate-service.ts';
import type { WithCertificates, WithVault } from '../ports.ts';

interface InstallCertificateAuthority {
  /** PEM. The issuers of an intermediate follow it. */
  readonly certificate: string;
  /** PEM, not encrypted. */
  readonly privateKey: string;
}

type Installed = Extract<TenantEvent, { type: 'CertificateAuthorityInstalled' }>['data'];
type Ports = WithCertificates & WithVault;

/**
 * Installs the authority that signs devices from now on. Devices of the previous authority are accepted until their own
 * certificates expire (OP-178).
 */
export const installCertificateAuthority = defineCommand({
  name: 'InstallCertificateAuthority',
  aggregate: tenant,
  stream: (_input: InstallCertificateAuthority, { tenantId }) => tenantStream(tenantId),
  async prepare(
    { certificate, privateKey }: InstallCertificateAuthority,
    { certificates, vault }: Ports,
    { tenantId, now },
  ) {
    const authority = certificates.inspect(certificate, privateKey, now);
    if (isFailure(authority)) return authority;
    const installed: Installed = {
      certificatePem: authority.certificatePem,
      privateKeyRef: await vault.put(tenantId, authorityKeyLocation(tenantId), authority.privateKeyPem),
      fingerprintSha256: authority.fingerprintSha256,
      subject: authority.subject,
      serialNumber: authority.serialNumber,
      notBefore: new Date(authority.notBefore).toISOString(),
      expiresAt: new Date(authority.expiresAt).toISOString(),
      source: 'uploaded',
    };
    return installed;
  },
  decide(state, _input, _context, installed: Installed) {
    if (!state.exists) return notFound();
    return accept([{ type: 'CertificateAuthorityInstalled', data: installed }], {
      forget: [state.authority?.privateKeyRef],
    });
  },
  freshens: ['certificate_authorities', 'live-state'],
});
