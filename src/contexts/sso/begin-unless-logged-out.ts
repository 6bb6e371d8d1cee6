import type { Actor } from '../../platform/kernel/actor.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { OneTimeTokens, TokenUse } from '../identity/one-time-tokens.ts';
import { endLocalSession, type EndLocalSessionDependencies } from './end-local-session.ts';

export interface BeginUnlessLoggedOutDependencies extends EndLocalSessionDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

export interface SessionOfCode {
  readonly tenantId: TenantId;
  readonly sessionId: string;
  readonly purpose: 'sso-handoff' | 'org-handoff';
  readonly code: string;
  /** Of the code. Undefined if nobody knows the code. */
  readonly use?: TokenUse;
  readonly actor: Actor;
}

/**
 * Begins the session of a code. Undefined if its provider has logged the person out since: then the session has ended, and
 * nobody gets its tokens.
 *
 * A logout first deletes codes and then ends the sessions that it finds. So one that comes before the code is discarded
 * is seen here; one that comes later finds a session that has begun (decision 0175).
 */
export async function beginUnlessLoggedOut<Tokens>(
  services: BeginUnlessLoggedOutDependencies,
  { tenantId, sessionId, purpose, code, use, actor }: SessionOfCode,
  begin: () => Promise<Tokens>,
): Promise<Tokens | undefined> {
  const tokens = await begin();
  const { oneTimeTokens } = services;
  if (await (use ? oneTimeTokens.finish(purpose, code, use) : oneTimeTokens.discard(purpose, code))) return tokens;
  await endLocalSession(services, tenantId, sessionId, actor);
  return undefined;
}
