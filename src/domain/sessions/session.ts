import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { sessionEvents } from './events.ts';

export interface SessionState {
  readonly status: 'none' | 'live' | 'ended';
  readonly subjectId: string;
  readonly epoch: number;
}

const initial: SessionState = { status: 'none', subjectId: '', epoch: 0 };

export const session = defineAggregate<SessionState, typeof sessionEvents>(sessionEvents, initial, (state, event) => {
  switch (event.type) {
    case 'SessionStarted':
      return { status: 'live', subjectId: event.data.subjectId, epoch: event.data.epoch };
    case 'SessionEnded':
      return { ...state, status: 'ended' };
  }
});

export const sessionStream = (tenantId: TenantId, sessionId: string): string => streamName('session', tenantId, sessionId);
