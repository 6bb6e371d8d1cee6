import { planAlertEmail } from '../../../../commands/notifications/plan-alert-email.ts';
import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import { alertEvents } from '../../alerts/domain/events.ts';
import type { Severity } from '../../alerts/domain/vocabulary.ts';

const planned = (
  event: RecordedEvent<{ type: string; data: { alertId: string } }>,
  change: 'created' | 'updated',
  severity?: Severity,
) => [
  {
    effects: [
      effect(planAlertEmail, {
        alertId: event.data.alertId,
        eventId: event.id,
        change,
        occurredAt: at(event),
        ...(severity === undefined ? {} : { severity }),
      }),
    ],
  },
];

/** Events of an alert that recipients of e-mail hear of. Who works on it is of no interest to them. */
export const whenAlertChangesPlanEmails = defineReaction({
  name: 'alert-emails',
  lane: 'main',
  families: [alertEvents],
  on: {
    AlertRaised: (event) => planned(event, 'created', event.data.severity),
    AlertAcknowledged: (event) => planned(event, 'updated'),
    AlertResolved: (event) => planned(event, 'updated'),
    AlertReopened: (event) => planned(event, 'updated'),
    AlertSeverityChanged: (event) => planned(event, 'updated', event.data.severity),
  },
});
