import { session, sessionStream } from '../../src/contexts/identity/domain/session.ts';
import type { SessionEvent } from '../../src/contexts/identity/domain/session-events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

type StartSession = Extract<SessionEvent, { type: 'SessionStarted' }>['data'];

export const startSession = defineCommand({
  name: 'StartSession',
  aggregate: session,
  stream: ({ sessionId }: StartSession, { tenantId }) => sessionStream(tenantId, sessionId),
  begins: true,
  decide: (state, input) => {
    if (state.status === 'none') return accept([{ type: 'SessionStarted', data: input }]);
    // Begun by a request that could not say so (`sessionIdOf`).
    const isSame = state.status === 'live' && state.subjectId === input.subjectId && state.epoch === input.epoch;
    return isSame && state.method === input.method ? accept([]) : conflict();
  },
});
