import { z } from 'zod';
import { installCertificateAuthority } from '../../../../../commands/certificates/install-certificate-authority.ts';
import { removeCertificateAuthority } from '../../../../../commands/certificates/remove-certificate-authority.ts';
import { revokedCertificates } from '../../../../../queries/certificates/revoked-certificates.ts';
import {
  certificateAuthorityStatus,
  viewOfNewAuthority,
  certificateAuthorityView,
} from '../../../../../queries/certificates/certificate-authority-status.ts';
import { FailureError, notFound, orThrow } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import { inspectAuthority } from '../../../../platform/pki/uploaded-authority.ts';
import type { RevocationList } from '../../../../platform/pki/revocation-list.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { pemField, pemTexts } from './pem-field.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import type { WithCertificates } from '../../../../../commands/ports.ts';
import type { Limits } from '../../../config/limits.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface CertificatesRouteDependencies {
  readonly ports: WithCertificates;
  readonly limits: Pick<Limits, 'certificates'>;
  readonly lookups: Lookups;
}

const route = routeWith<CertificatesRouteDependencies>();

const base = '/api/v1/admin/certificates/ca';

const texts = pemTexts(['certificate', 'privateKey'], ({ certificate, privateKey }) =>
  inspectAuthority(certificate, privateKey, Date.now()),
);

async function revocationListOf(
  { lookups, ports }: CertificatesRouteDependencies,
  tenantId: TenantId,
  ask: HandlerContext<undefined, undefined, undefined>['ask'],
): Promise<RevocationList> {
  const now = Date.now();
  const [tenant, revoked] = await Promise.all([
    lookups.tenant(tenantId, tenantId),
    ask(revokedCertificates, { now: new Date(now).toISOString() }),
  ]);
  if (!tenant?.authority) throw new FailureError(notFound());
  return orThrow(await ports.certificates.revocationList(tenantId, tenant.authority, revoked, now));
}

export const certificateRoutes: RouteGroup<CertificatesRouteDependencies> = {
  area: 'certificates',
  routes: [
    route({
      method: 'POST',
      path: base,
      access: adminReauthenticated('certificates:write'),
      summary: 'Install the CA that signs device certificates',
      operation: 'installCa',
      description: 'PEM, at most 64 KiB per field (413).',
      body: z.object({ certificate: pemField, privateKey: pemField }),
      foresee: texts.foresee,
      status: 201,
      response: certificateAuthorityView,
      handle: async ({ run, created, body, principal: { tenantId }, services }) => {
        texts.refuseLarge(body);
        return services.limits.certificates.run(tenantId, async () => {
          const executed = await run(installCertificateAuthority, body);
          return created(executed, certificateAuthorityStatus, undefined, viewOfNewAuthority);
        });
      },
    }),
    route({
      method: 'DELETE',
      path: base,
      access: adminReauthenticated('certificates:write'),
      summary: 'Remove the CA',
      operation: 'removeCa',
      description: 'No device can enroll until another CA is installed.',
      handle: ({ run, principal: { tenantId }, services }) =>
        services.limits.certificates.run(tenantId, async () => {
          await run(removeCertificateAuthority, undefined);
        }),
    }),
    route({
      method: 'GET',
      path: `${base}/crl`,
      access: admin('certificates:read'),
      summary: 'Get the revocation list of the CA',
      refuses: ['certificate_authority_missing', 'certificate_authority_without_crl'],
      operation: 'getRevocationList',
      description: 'RFC 5280, DER; for a proxy that terminates TLS in front of this service.',
      response: { media: 'application/pkix-crl' },
      handle: async ({ ask, principal: { tenantId }, services, reply }) => {
        const list = await services.limits.certificates.run(tenantId, () => revocationListOf(services, tenantId, ask));
        reply.type('application/pkix-crl');
        return list.der;
      },
    }),
    route({
      method: 'GET',
      path: `${base}/status`,
      access: admin('certificates:read'),
      summary: 'Get the CA that signs device certificates',
      operation: 'getCa',
      response: certificateAuthorityView,
      handle: ({ ask }) => ask(certificateAuthorityStatus, undefined),
    }),
  ],
};
