import { session, sessionStream } from '../../src/contexts/identity/domain/session.ts';
import type { SessionEvent } from '../../src/contexts/identity/domain/session-events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface EndSession {
  readonly sessionId: string;
  readonly reason: Extract<SessionEvent, { type: 'SessionEnded' }>['data']['reason'];
}

/**
 * Ends a session. Its access token and refresh tokens become invalid, and the response waits until this process has
 * processed the event.
 */
export const endSession = defineCommand({
  name: 'EndSession',
  aggregate: session,
  stream: ({ sessionId }: EndSession, { tenantId }) => sessionStream(tenantId, sessionId),
  decide(state, { sessionId, reason }) {
    if (state.status === 'none') return unauthenticated();
    if (state.status === 'ended') return accept([]);
    return accept([{ type: 'SessionEnded', data: { sessionId, subjectId: state.subjectId, reason } }]);
  },
  freshens: ['live-state'],
});
