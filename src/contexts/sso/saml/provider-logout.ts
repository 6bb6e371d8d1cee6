import type { Database } from '../../../platform/database/database.ts';
import type { Actor } from '../../../platform/kernel/actor.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { samlEntityId, samlLogoutUrl } from '../domain/addresses.ts';
import type { SamlConfig } from '../domain/events.ts';
import { certificatesOf } from '../domain/saml-material.ts';
import { enabledSsoConfig, type EnabledConfig } from '../enabled-config.ts';
import { endLocalSession, type EndLocalSessionDependencies } from '../end-local-session.ts';
import { recordEndedCodes } from '../ended-codes.ts';
import type { RecordedSsoRefusals } from '../recorded-refusals.ts';
import { logoutResponseXml, newMessageId, type LogoutOutcome } from './logout-messages.ts';
import type { NamedByLogout } from './logout-marks.ts';
import { logoutRequestOf, type LogoutRequest } from './logout-request.ts';
import { claimsOfLogout, verifiedLogoutRequest, type ReceivedLogout } from './received-logout.ts';
import { redirectAddress } from './redirect-binding.ts';
import { refuseSaml, SamlRefused } from './refused.ts';
import { signedOutAddress, type SingleLogoutDependencies } from './single-logout.ts';
import { forgetUse, useOnce } from './used-messages.ts';

export interface ProviderLogoutDependencies extends SingleLogoutDependencies, EndLocalSessionDependencies {
  readonly database: Database;
  readonly ssoRefusals: RecordedSsoRefusals;
}

/**
 * Ends our sessions of a person whom the provider has logged out, and returns where to send the browser: back to the
 * provider with our response, or to the sign-in page. Undefined if the tenant has no SAML provider. Only signed
 * requests count: otherwise any page could log people out. Refusals are audited, and the provider gets a response to
 * go on with (decision 0191). Throws `SamlRefused` if there is nowhere to send that.
 */
export async function logOutForProvider(
  services: ProviderLogoutDependencies,
  tenantId: TenantId,
  received: ReceivedLogout,
  actor: Actor,
): Promise<string | undefined> {
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (!enabled) return undefined;
  const respond = responder(enabled, tenantId, received);
  try {
    const requestId = await logOut(services, enabled, tenantId, received, actor);
    return respond({ requestId }) ?? signedOutAddress(tenantId);
  } catch (error) {
    if (!(error instanceof SamlRefused)) throw error;
    const { configId } = enabled.config;
    await services.ssoRefusals.logout({ tenantId, protocol: 'saml', configId, actor }, error.reason);
    const claims = claimsOfLogout(received);
    const address =
      claims?.issuer === enabled.config.idpEntityId
        ? respond({ requestId: claims.id, refusal: error.reason })
        : undefined;
    if (address === undefined) throw error;
    return address;
  }
}

/** Makes the address of a response: always the configured one, never one of a message. Undefined if there is none. */
const responder =
  (
    { config: { idpSloUrl, idpSloResponseUrl }, externalBaseUrl, secret }: EnabledConfig<SamlConfig>,
    tenantId: TenantId,
    { relayState }: ReceivedLogout,
  ) =>
  (outcome: LogoutOutcome): string | undefined => {
    const destination = idpSloResponseUrl ?? idpSloUrl;
    if (destination === null) return undefined;
    const issuer = samlEntityId(externalBaseUrl, tenantId);
    const message = { id: newMessageId(), issuer, destination, now: Date.now() };
    const xml = logoutResponseXml(message, outcome);
    return redirectAddress(destination, {
      parameter: 'SAMLResponse',
      xml,
      relayState,
      signingKey: secret ?? undefined,
    });
  };

/** Returns the id of the request. Throws `SamlRefused`. */
async function logOut(
  services: ProviderLogoutDependencies,
  { config, externalBaseUrl }: EnabledConfig<SamlConfig>,
  tenantId: TenantId,
  received: ReceivedLogout,
  actor: Actor,
): Promise<string> {
  const { configId, idpEntityId, idpCertificate } = config;
  const certificates = (certificatesOf(idpCertificate) ?? []).map((certificate) => certificate.toString());
  const sloUrl = samlLogoutUrl(externalBaseUrl, tenantId);
  const verified = verifiedLogoutRequest(received, certificates);
  const request = logoutRequestOf(verified, { idpEntityId, sloUrl, now: Date.now() });
  const { id, rememberedUntil: endsAt } = request;
  const named = services.samlSessions.namedBy(config, request);
  const used = { kind: 'logout', tenantId, configId, issuer: idpEntityId, id, endsAt, named } as const;
  const deliveryId = await useOnce(services.database.service, used);
  const sparesSessions = await endSessions(services, tenantId, named, request, actor).catch(async (error: unknown) => {
    // The person may reload the page.
    await forgetUse(services.database.service, used, deliveryId);
    throw error;
  });
  if (sparesSessions) refuseSaml('expired', 'a session began after the request');
  return id;
}

/** Ends the sessions that are meant, and sign-ins that have not become sessions yet. True if a newer one goes on: the provider must not believe that it ended. */
async function endSessions(
  services: ProviderLogoutDependencies,
  tenantId: TenantId,
  named: NamedByLogout,
  { begunBefore }: LogoutRequest,
  actor: Actor,
): Promise<boolean> {
  const { spares, codes } = await services.samlSessions.endCodes(tenantId, named, begunBefore);
  await recordEndedCodes(services, { tenantId, protocol: 'saml', actor }, codes);
  const sessions = await services.samlSessions.of(tenantId, named, begunBefore);
  for (const { sessionId } of sessions.filter(({ isNewer }) => !isNewer)) {
    await endLocalSession(services, tenantId, sessionId, actor);
    await services.samlSessions.take(tenantId, sessionId);
  }
  return spares || sessions.some(({ isNewer }) => isNewer);
}
