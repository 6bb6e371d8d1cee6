import { session, sessionStream } from '../../src/contexts/identity/domain/session.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeSession {
  readonly sessionId: string;
  /** The required owner: another admin's session is treated as not found. */
  readonly subjectId: string;
}

/** Ends a session from another one of the same admin. */
export const revokeSession = defineCommand({
  name: 'RevokeSession',
  aggregate: session,
  stream: ({ sessionId }: RevokeSession, { tenantId }) => sessionStream(tenantId, sessionId),
  decide(state, { sessionId, subjectId }) {
    if (state.status !== 'live' || state.subjectId !== subjectId) return notFound();
    return accept([{ type: 'SessionEnded', data: { sessionId, subjectId, reason: 'revoked' } }]);
  },
  freshens: ['admin_sessions', 'live-state'],
});
