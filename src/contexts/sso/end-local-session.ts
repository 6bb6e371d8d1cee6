import { endSession } from '../../../commands/identity/end-session.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Position } from '../../platform/kernel/event.ts';
import { FailureError, isFailure } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { RefreshTokens } from '../identity/refresh-tokens.ts';

export interface EndLocalSessionDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly refreshTokens: RefreshTokens;
}

/**
 * Ends a session of ours that its provider has ended. Returns the position of the event; undefined if the session had
 * ended, or never began. Throws `FailureError`: a provider must not believe that a living session has ended.
 */
export async function endLocalSession(
  { executor, refreshTokens }: EndLocalSessionDependencies,
  tenantId: TenantId,
  sessionId: string,
  actor: Actor,
): Promise<Position | undefined> {
  const ended = await executor.execute(endSession, { sessionId, reason: 'sso_logout' }, { tenantId, actor });
  if (isFailure(ended) && ended.kind !== 'unauthenticated') throw new FailureError(ended);
  await refreshTokens.revokeSession(tenantId, sessionId);
  return isFailure(ended) ? undefined : ended.position;
}
