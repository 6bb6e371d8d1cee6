import { planAlertWebhook } from '../../../../commands/notifications/plan-alert-webhook.ts';
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
      effect(planAlertWebhook, {
        alertId: event.data.alertId,
        eventId: event.id,
        change,
        occurredAt: at(event),
        ...(severity === undefined ? {} : { severity }),
      }),
    ],
  },
];

/** Events of an alert that a webhook tells: it was raised, or somebody decided about it. Repetitions are counted only. */
export const whenAlertChangesPlanWebhook = defineReaction({
  name: 'alert-webhooks',
  lane: 'main',
  families: [alertEvents],
  on: {
    AlertRaised: (event) => planned(event, 'created', event.data.severity),
    AlertAcknowledged: (event) => planned(event, 'updated'),
    AlertResolved: (event) => planned(event, 'updated'),
    AlertReopened: (event) => planned(event, 'updated'),
    AlertAssigned: (event) => planned(event, 'updated'),
    AlertClaimed: (event) => planned(event, 'updated'),
    AlertSeverityChanged: (event) => planned(event, 'updated', event.data.severity),
  },
});
