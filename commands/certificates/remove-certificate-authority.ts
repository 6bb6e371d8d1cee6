import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

/**
 * Leaves the tenant without an authority: no device can enroll until another one is uploaded (OP-176). Devices keep
 * their certificates.
 */
export const removeCertificateAuthority = defineCommand({
  name: 'RemoveCertificateAuthority',
  aggregate: tenant,
  stream: (_input: void, { tenantId }) => tenantStream(tenantId),
  decide(state) {
    if (!state.authority) return notFound();
    const { privateKeyRef, fingerprintSha256 } = state.authority;
    return accept([{ type: 'CertificateAuthorityRemoved', data: { fingerprintSha256 } }], { forget: [privateKeyRef] });
  },
  freshens: ['certificate_authorities', 'live-state'],
});
