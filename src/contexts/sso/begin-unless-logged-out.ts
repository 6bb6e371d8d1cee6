import { createHash } from 'node:crypto';
import type { Actor } from '../../platform/kernel/actor.ts';
import { uuidOf, type TenantId } from '../../platform/kernel/ids.ts';
import type { OneTimeTokens } from '../identity/one-time-tokens.ts';
import { endLocalSession, type EndLocalSessionDependencies } from './end-local-session.ts';

export interface BeginUnlessLoggedOutDependencies extends EndLocalSessionDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

export interface SessionOfCode {
  readonly tenantId: TenantId;
  readonly sessionId: string;
  readonly purpose: 'sso-handoff' | 'org-handoff';
  /** Spent, or known to nobody. */
  readonly code: string;
  readonly actor: Actor;
}

/**
 * The session of a code. An exchange that has begun it, but could not say so because something was away, is repeated: it finds
 * the same session, and none is left that nobody holds.
 */
export const sessionIdOf = (code: string): string => uuidOf(createHash('sha256').update(`session of ${code}`).digest());

/**
 * Begins the session of a code. Undefined if its provider has logged the person out since: then the session has ended, and
 * nobody gets its tokens.
 *
 * A logout first deletes codes and then ends the sessions that it finds. So one that comes before the code is discarded
 * is seen here; one that comes later finds a session that has begun (decision 0175).
 */
export async function beginUnlessLoggedOut<Tokens>(
  services: BeginUnlessLoggedOutDependencies,
  { tenantId, sessionId, purpose, code, actor }: SessionOfCode,
  begin: () => Promise<Tokens>,
): Promise<Tokens | undefined> {
  const tokens = await begin();
  if (await services.oneTimeTokens.discard(purpose, code)) return tokens;
  await endLocalSession(services, tenantId, sessionId, actor);
  return undefined;
}
