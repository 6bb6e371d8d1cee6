import type { Aggregate } from '../../../platform/kernel/aggregate.ts';
import type { AlertEvent } from '../../alerts/domain/events.ts';
import { alertEvents } from '../../alerts/domain/events.ts';
import type { AlertType, Severity } from '../../alerts/domain/vocabulary.ts';

export interface NotifiedAlert {
  readonly alertType: AlertType;
  readonly severity: Severity;
}

/** What decides who is notified of an alert. Undefined if there is no such alert. */
export const notifiedAlert: Aggregate<NotifiedAlert | undefined, AlertEvent> = {
  category: alertEvents.category,
  initial: undefined,
  fold(state, event) {
    if (event.type === 'AlertRaised') return { alertType: event.data.alertType, severity: event.data.severity };
    return event.type === 'AlertSeverityChanged' && state ? { ...state, severity: event.data.severity } : state;
  },
};
