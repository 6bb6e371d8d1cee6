import { randomBytes } from 'node:crypto';
import type { Actor } from '../../../platform/kernel/actor.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { samlEntityId, samlLogoutUrl } from '../domain/addresses.ts';
import { certificatesOf } from '../domain/saml-material.ts';
import { enabledSsoConfig, type EnabledConfigDependencies } from '../enabled-config.ts';
import { endLocalSession, type EndLocalSessionDependencies } from '../end-local-session.ts';
import {
  logoutRequestOf,
  logoutRequestXml,
  logoutResponseXml,
  parsedLogoutRequest,
  postedLogoutRequest,
} from './logout-messages.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import type { RecordedSsoRefusals } from '../recorded-refusals.ts';
import { redirectAddress, signedRedirectMessage } from './redirect-binding.ts';

export interface SingleLogoutDependencies extends EnabledConfigDependencies, EndLocalSessionDependencies {
  readonly samlSessions: ProviderSessions;
  readonly ssoRefusals: RecordedSsoRefusals;
}

const newId = (): string => `_${randomBytes(20).toString('hex')}`;

/** The sign-in page of a tenant: where a browser ends up after a logout. */
export const signedOutAddress = (tenantId: TenantId): string =>
  `/login?${new URLSearchParams({ tenant_id: tenantId }).toString()}`;

/**
 * Where to send the browser of a session that has ended here, so that it ends at the provider too. The provider sends
 * it back to the sign-in page. Null if the provider has no address for that, or the session did not begin through it.
 */
export async function providerLogoutUrl(
  services: SingleLogoutDependencies,
  tenantId: TenantId,
  sessionId: string,
): Promise<string | null> {
  const session = await services.samlSessions.take(tenantId, sessionId);
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (!session || !enabled || enabled.config.idpSloUrl === null) return null;
  const { idpSloUrl: destination } = enabled.config;
  const issuer = samlEntityId(enabled.externalBaseUrl, tenantId);
  return redirectAddress(destination, {
    parameter: 'SAMLRequest',
    xml: logoutRequestXml({ id: newId(), issuer, destination, now: Date.now() }, session),
    relayState: undefined,
    signingKey: enabled.secret ?? undefined,
  });
}

/** As received, by one of the two bindings. */
export type ReceivedLogout =
  | { readonly binding: 'redirect'; readonly query: string; readonly relayState: string | undefined }
  | { readonly binding: 'post'; readonly base64: string; readonly relayState: string | undefined };

/**
 * Ends our sessions of a person whom the provider has logged out, and returns where to send the browser: back to the
 * provider with our response, or to the sign-in page. Undefined if the tenant has no SAML provider. Only signed
 * requests count: otherwise any page could log people out. Throws `SamlRefused`.
 */
export async function logOutForProvider(
  services: SingleLogoutDependencies,
  tenantId: TenantId,
  received: ReceivedLogout,
  actor: Actor,
): Promise<string | undefined> {
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (!enabled) return undefined;
  const { configId, idpEntityId, idpSloUrl, idpCertificate } = enabled.config;
  const certificates = (certificatesOf(idpCertificate) ?? []).map((certificate) => certificate.toString());
  const verified =
    received.binding === 'post'
      ? postedLogoutRequest(received.base64, certificates)
      : parsedLogoutRequest(signedRedirectMessage('SAMLRequest', received.query, certificates));
  const now = Date.now();
  const sloUrl = samlLogoutUrl(enabled.externalBaseUrl, tenantId);
  const request = logoutRequestOf(verified, { idpEntityId, sloUrl, now });
  for (const sessionId of await services.samlSessions.of(tenantId, configId, request)) {
    await endLocalSession(services, tenantId, sessionId, actor);
    await services.samlSessions.take(tenantId, sessionId);
  }
  if (idpSloUrl === null) return signedOutAddress(tenantId);
  const issuer = samlEntityId(enabled.externalBaseUrl, tenantId);
  return redirectAddress(idpSloUrl, {
    parameter: 'SAMLResponse',
    xml: logoutResponseXml({ id: newId(), issuer, destination: idpSloUrl, now }, request.id),
    relayState: received.relayState,
    signingKey: enabled.secret ?? undefined,
  });
}
