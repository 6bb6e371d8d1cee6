import { z } from 'zod';
import { installServerCertificate } from '../../../../../commands/certificates/install-server-certificate.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { pemField, pemTexts } from './pem-field.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { inspectServerCertificate } from '../../../../platform/pki/uploaded-server-certificate.ts';
import type { Vault } from '../../../../platform/vault/vault.ts';
import type { ListenerCertificate } from '../../../../contexts/certificates/listener-certificate.ts';

export interface TlsRouteDependencies {
  readonly vault: Vault;
  listenerCertificate(): ListenerCertificate;
}

const route = routeWith<TlsRouteDependencies>();

const base = '/api/v1/admin/tls';
const DAY_MS = 86_400_000;

const texts = pemTexts(['certificate', 'privateKey', 'chain'], (given) => inspectServerCertificate(given, Date.now()));

/** Choice OP-179. */
const tlsStatusView = z.object({
  configured: z.boolean(),
  subject: z.string().nullable(),
  issuer: z.string().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  daysRemaining: z.int().nullable(),
  source: z.enum(['uploaded', 'generated']).nullable(),
});

function statusOf({ listenerCertificate }: TlsRouteDependencies): z.output<typeof tlsStatusView> {
  const shown = listenerCertificate().status;
  if (!shown)
    return { configured: false, subject: null, issuer: null, expiresAt: null, daysRemaining: null, source: null };
  const { subject, issuer, expiresAt, source } = shown;
  const daysRemaining = Math.max(0, Math.floor((expiresAt - Date.now()) / DAY_MS));
  return { configured: true, subject, issuer, expiresAt: new Date(expiresAt).toISOString(), daysRemaining, source };
}

/** The certificate of the TLS listener, to which devices connect. */
export const tlsRoutes: RouteGroup<TlsRouteDependencies> = {
  area: 'certificates',
  routes: [
    route({
      method: 'GET',
      path: `${base}/status`,
      access: admin('certificates:read'),
      summary: 'Get the certificate of the TLS listener',
      response: tlsStatusView,
      handle: async ({ services }) => statusOf(services),
    }),
    route({
      method: 'POST',
      path: `${base}/certificate`,
      access: adminReauthenticated('certificates:write'),
      summary: 'Install the certificate of the TLS listener',
      refuses: ['listener_of_another_tenant'],
      description:
        'PEM, at most 64 KiB per field (413). Used for all new connections, by the devices of every tenant: the change raises an alert.',
      body: z.object({ certificate: pemField, privateKey: pemField, chain: pemField.nullish() }),
      foresee: texts.foresee,
      response: tlsStatusView,
      handle: async ({ run, body, principal: { tenantId }, services }) => {
        const { certificate, privateKey, chain } = body;
        texts.refuseLarge(body);
        const { result } = await run(installServerCertificate, { certificate, privateKey, chain: chain ?? undefined });
        await services.listenerCertificate().show(tenantId, result.installed);
        return statusOf(services);
      },
    }),
  ],
};
