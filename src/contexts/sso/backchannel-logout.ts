import type { Actor } from '../../platform/kernel/actor.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { SsoRefused } from '../identity/sso-sign-in.ts';
import { recordEndedCodes } from './ended-codes.ts';
import { endLocalSession, type EndLocalSessionDependencies } from './end-local-session.ts';
import { LogoutRefused } from './logout-token.ts';
import type { RecordedSsoRefusals } from './recorded-refusals.ts';
import { openIdProviderOf, type FindConfig, type OidcSignInDependencies } from './oidc-sign-in.ts';

export interface BackchannelLogoutDependencies extends EndLocalSessionDependencies, OidcSignInDependencies {
  readonly ssoRefusals: RecordedSsoRefusals;
}

export interface ReceivedLogoutToken {
  /** The tenant or the organization. */
  readonly owner: TenantId;
  readonly token: string;
  readonly actor: Actor;
}

/**
 * Ends the sessions of a person or a session at the provider, as its logout token says (OpenID Connect Back-Channel
 * Logout 1.0 §2.5 to §2.7). Returns the position of the last event; undefined if no session was left. Refusals are
 * audited. Throws `LogoutRefused`.
 */
export async function logOutByToken(
  services: BackchannelLogoutDependencies,
  find: FindConfig,
  received: ReceivedLogoutToken,
): Promise<Position | undefined> {
  const { owner: tenantId, actor } = received;
  const found = await find(tenantId);
  // Not audited: anyone may name any tenant.
  if (!found) throw new LogoutRefused('not_configured');
  try {
    return await endSessions(services, found, received);
  } catch (error) {
    if (!(error instanceof LogoutRefused) && !(error instanceof SsoRefused)) throw error;
    const detail = error instanceof LogoutRefused ? error.detail : (error.detail ?? error.reason);
    const { configId } = found.config;
    await services.ssoRefusals.logout({ tenantId, protocol: 'oidc', configId, actor }, detail);
    throw error;
  }
}

async function endSessions(
  services: BackchannelLogoutDependencies,
  found: NonNullable<Awaited<ReturnType<FindConfig>>>,
  { owner: tenantId, token, actor }: ReceivedLogoutToken,
): Promise<Position | undefined> {
  const { oidcSessions } = services;
  const { configId } = found.config;
  const loggedOut = await openIdProviderOf(services, found).loggedOut(token);
  const claimId = await oidcSessions.claim(tenantId, found.config, loggedOut);
  if (claimId === undefined) throw new LogoutRefused('replayed');
  try {
    const { sessionIds, codes } = await oidcSessions.endedBy(tenantId, configId, loggedOut);
    await recordEndedCodes(services, { tenantId, protocol: 'oidc', actor }, codes);
    const last = await endThose(services, tenantId, sessionIds, actor);
    await oidcSessions.conclude(tenantId, configId, loggedOut);
    return last;
  } catch (error) {
    // If this fails, too, until the end of the claim, that runs out.
    await oidcSessions.release(tenantId, configId, loggedOut, claimId);
    throw error;
  }
}

async function endThose(
  services: BackchannelLogoutDependencies,
  tenantId: TenantId,
  sessionIds: readonly string[],
  actor: Actor,
): Promise<Position | undefined> {
  let last: Position | undefined;
  for (const sessionId of sessionIds) {
    last = (await endLocalSession(services, tenantId, sessionId, actor)) ?? last;
    await services.oidcSessions.forget(tenantId, sessionId);
  }
  return last;
}
