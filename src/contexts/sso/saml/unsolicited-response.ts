import { isUuid, asTenantId, type TenantId } from '../../../platform/kernel/ids.ts';
import { samlEntityId } from '../domain/addresses.ts';
import { enabledSsoConfig } from '../enabled-config.ts';
import { isRelayState } from './pending-requests.ts';
import { SamlRefused } from './refused.ts';
import type { SamlSignInDependencies } from './saml-sign-in.ts';
import type { ResponseClaims } from './unverified-claims.ts';

/**
 * The tenant of a sign-in that began at its provider: a response to no request (Profiles §4.1.5), for this tenant, from
 * the provider that it uses. Undefined for every other response.
 *
 * Such a response is never accepted: anybody who has an account at the provider could put their own session into the
 * browser of somebody else. It only says where to start a request of our own, which is no more than a link to the
 * sign-in page could do. So nothing of it has to be verified.
 */
export async function startedAtProvider(
  services: SamlSignInDependencies,
  samlResponse: string,
  relayState: string,
): Promise<TenantId | undefined> {
  if (isRelayState(relayState)) return undefined;
  const claims = await claimsIn(services, samlResponse);
  if (!claims || claims.inResponseTo !== undefined) return undefined;
  for (const audience of claims.audiences) {
    const named = /[?&]tenant_id=([^&]*)$/.exec(audience)?.[1] ?? '';
    if (!isUuid(named)) continue;
    const tenantId = asTenantId(named);
    const enabled = await enabledSsoConfig(services, tenantId, 'saml');
    if (
      enabled?.config.idpEntityId === claims.issuer &&
      enabled &&
      samlEntityId(enabled.externalBaseUrl, tenantId) === audience
    )
      return tenantId;
  }
  return undefined;
}

async function claimsIn(
  { samlResponses }: SamlSignInDependencies,
  samlResponse: string,
): Promise<ResponseClaims | undefined> {
  try {
    return await samlResponses.reader.claims(samlResponse);
  } catch (error) {
    if (error instanceof SamlRefused) return undefined;
    throw error;
  }
}
