import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { VouchedBy } from '../../sso/domain/vouching.ts';
import { sessionEvents, type SessionEvent } from './session-events.ts';

export interface SessionState {
  readonly status: 'none' | 'live' | 'ended';
  readonly subjectId: string;
  readonly epoch: number;
  /** How the holder signed in; null before the session started. */
  readonly method: Extract<SessionEvent, { type: 'SessionStarted' }>['data']['method'] | null;
  readonly vouchedBy: VouchedBy | null;
}

const initial: SessionState = { status: 'none', subjectId: '', epoch: 0, method: null, vouchedBy: null };

export const session = defineAggregate<SessionState, typeof sessionEvents>(sessionEvents, initial, (state, event) => {
  switch (event.type) {
    case 'SessionStarted': {
      const { subjectId, epoch, method, vouchedBy } = event.data;
      return { status: 'live', subjectId, epoch, method, vouchedBy };
    }
    case 'SessionEnded':
      return { ...state, status: 'ended' };
  }
});

export const sessionStream = (tenantId: TenantId, sessionId: string): string =>
  streamName('session', tenantId, sessionId);
