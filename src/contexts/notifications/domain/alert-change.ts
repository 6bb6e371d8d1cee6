import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import type { AlertType, Severity } from '../../alerts/domain/vocabulary.ts';

/** An event of an alert. */
export interface NotifiedEvent {
  readonly alertId: string;
  readonly eventId: string;
}

/** An event of an alert that people may be notified of. */
export interface AlertChange extends NotifiedEvent {
  readonly change: 'created' | 'updated';
  readonly occurredAt: string;
  /** Set if the event names the severity. By default the present one. */
  readonly severity?: Severity;
  /** Set if the event names the type. By default it is read. */
  readonly alertType?: AlertType;
}

export const alertChangeIn = (
  event: RecordedEvent<{ type: string; data: { alertId: string } }>,
  change: AlertChange['change'],
  severity?: Severity,
): AlertChange => ({
  alertId: event.data.alertId,
  eventId: event.id,
  change,
  occurredAt: at(event),
  ...(severity === undefined ? {} : { severity }),
});
