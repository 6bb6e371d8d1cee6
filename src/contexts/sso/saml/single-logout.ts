import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { Actor } from '../../../platform/kernel/actor.ts';
import { recordEndedCodes, type EndedCodesDependencies } from '../ended-codes.ts';
import { samlEntityId } from '../domain/addresses.ts';
import { enabledSsoConfig, type EnabledConfigDependencies } from '../enabled-config.ts';
import { logoutRequestXml, newMessageId } from './logout-messages.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import { redirectAddress } from './redirect-binding.ts';

export interface SingleLogoutDependencies extends EnabledConfigDependencies, EndedCodesDependencies {
  readonly samlSessions: ProviderSessions;
}

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
  actor: Actor,
): Promise<string | null> {
  const codes = await services.samlSessions.endCodesBeside(tenantId, sessionId);
  await recordEndedCodes(services, { tenantId, protocol: 'saml', actor }, codes);
  const session = await services.samlSessions.take(tenantId, sessionId);
  const enabled = await enabledSsoConfig(services, tenantId, 'saml');
  if (!session || !enabled || enabled.config.idpSloUrl === null) return null;
  const { idpSloUrl: destination } = enabled.config;
  const issuer = samlEntityId(enabled.externalBaseUrl, tenantId);
  return redirectAddress(destination, {
    parameter: 'SAMLRequest',
    xml: logoutRequestXml({ id: newMessageId(), issuer, destination, now: Date.now() }, session),
    relayState: undefined,
    signingKey: enabled.secret ?? undefined,
  });
}
