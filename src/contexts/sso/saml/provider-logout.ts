import type { Database } from '../../../platform/database/database.ts';
import type { Actor } from '../../../platform/kernel/actor.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { samlEntityId, samlLogoutUrl } from '../domain/addresses.ts';
import type { SamlConfig } from '../domain/events.ts';
import { certificatesOf } from '../domain/saml-material.ts';
import { enabledSsoConfig, type EnabledConfig } from '../enabled-config.ts';
import { endLocalSession, type EndLocalSessionDependencies } from '../end-local-session.ts';
import type { RecordedSsoRefusals } from '../recorded-refusals.ts';
import { logoutResponseXml, newMessageId } from './logout-messages.ts';
import { logoutRequestOf, parsedLogoutRequest, postedLogoutRequest, type LogoutRequest } from './logout-request.ts';
import { redirectAddress, signedRedirectMessage } from './redirect-binding.ts';
import { refuseSaml } from './refused.ts';
import { signedOutAddress, type SingleLogoutDependencies } from './single-logout.ts';
import { forgetUse, useOnce } from './used-messages.ts';

export interface ProviderLogoutDependencies extends SingleLogoutDependencies, EndLocalSessionDependencies {
  readonly database: Database;
  readonly ssoRefusals: RecordedSsoRefusals;
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
  services: ProviderLogoutDependencies,
  tenantId: TenantId,
  received: ReceivedLogout,
  actor: Actor,
): Promise<string | undefined> {
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (!enabled) return undefined;
  const { configId, idpEntityId: issuer, idpSloUrl } = enabled.config;
  const request = verifiedRequest(enabled, tenantId, received);
  const { id, endsAt } = request;
  const used = { kind: 'logout', tenantId, configId, issuer, id, endsAt } as const;
  await useOnce(services.database.service, used);
  const sparesSessions = await endSessions(services, tenantId, configId, request, actor).catch(
    async (error: unknown) => {
      // The person may reload the page.
      await forgetUse(services.database.service, used);
      throw error;
    },
  );
  if (sparesSessions) refuseSaml('expired', 'a session began after the request');
  if (idpSloUrl === null) return signedOutAddress(tenantId);
  const message = {
    id: newMessageId(),
    issuer: samlEntityId(enabled.externalBaseUrl, tenantId),
    destination: idpSloUrl,
    now: Date.now(),
  };
  return redirectAddress(idpSloUrl, {
    parameter: 'SAMLResponse',
    xml: logoutResponseXml(message, id),
    relayState: received.relayState,
    signingKey: enabled.secret ?? undefined,
  });
}

function verifiedRequest(
  { config: { idpEntityId, idpCertificate }, externalBaseUrl }: EnabledConfig<SamlConfig>,
  tenantId: TenantId,
  received: ReceivedLogout,
): LogoutRequest {
  const certificates = (certificatesOf(idpCertificate) ?? []).map((certificate) => certificate.toString());
  const verified =
    received.binding === 'post'
      ? postedLogoutRequest(received.base64, certificates)
      : parsedLogoutRequest(signedRedirectMessage('SAMLRequest', received.query, certificates));
  return logoutRequestOf(verified, { idpEntityId, sloUrl: samlLogoutUrl(externalBaseUrl, tenantId), now: Date.now() });
}

/** Ends the sessions that are meant. True if a newer one goes on: the provider must not believe that it ended. */
async function endSessions(
  services: ProviderLogoutDependencies,
  tenantId: TenantId,
  configId: string,
  request: LogoutRequest,
  actor: Actor,
): Promise<boolean> {
  const sessions = await services.samlSessions.of(tenantId, configId, request);
  for (const { sessionId } of sessions.filter(({ isNewer }) => !isNewer)) {
    await endLocalSession(services, tenantId, sessionId, actor);
    await services.samlSessions.take(tenantId, sessionId);
  }
  return sessions.some(({ isNewer }) => isNewer);
}
