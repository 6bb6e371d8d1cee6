import type { Aggregate } from '../../../platform/kernel/aggregate.ts';
import { alertEvents, type AlertEvent } from '../../alerts/domain/events.ts';
import type { Severity } from '../../alerts/domain/vocabulary.ts';
import type { ResponseKind } from './page-events.ts';

export interface PagedAlert {
  readonly severity: Severity;
  /** How an admin took the alert on since it was raised or opened again; null if none did. */
  readonly answer: ResponseKind | null;
  /** How often it was opened again. */
  readonly reopenings: number;
}

/** Whether anybody still has to be called about an alert. Undefined if there is no such alert. */
export const pagedAlert: Aggregate<PagedAlert | undefined, AlertEvent> = {
  category: alertEvents.category,
  initial: undefined,
  fold(state, event) {
    if (event.type === 'AlertRaised') return { severity: event.data.severity, answer: null, reopenings: 0 };
    if (!state) return undefined;
    switch (event.type) {
      case 'AlertReopened':
        return { ...state, answer: null, reopenings: state.reopenings + 1 };
      case 'AlertSeverityChanged':
        return { ...state, severity: event.data.severity };
      case 'AlertAcknowledged':
        return { ...state, answer: 'acknowledged' };
      case 'AlertResolved':
        return { ...state, answer: 'resolved' };
      case 'AlertClaimed':
        return { ...state, answer: 'claimed' };
      case 'AlertAssigned':
        return event.data.assigneeId === null ? state : { ...state, answer: 'assigned' };
      default:
        return state;
    }
  },
};
