import { session, sessionStream } from '../../src/domain/sessions/session.ts';
import type { SessionEvent } from '../../src/domain/sessions/events.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { conflict } from '../../src/kernel/failure.ts';

type StartSession = Extract<SessionEvent, { type: 'SessionStarted' }>['data'];

export const startSession = defineCommand({
  name: 'StartSession',
  aggregate: session,
  stream: ({ sessionId }: StartSession, { tenantId }) => sessionStream(tenantId, sessionId),
  begins: true,
  decide: (state, input) => (state.status === 'none' ? accept([{ type: 'SessionStarted', data: input }]) : conflict()),
});
