import { planAlertWebhook } from '../../../../commands/notifications/plan-alert-webhook.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { alertEvents } from '../../alerts/domain/events.ts';
import { alertChangeIn } from '../domain/alert-change.ts';

const planned = (...event: Parameters<typeof alertChangeIn>) => [
  { effects: [effect(planAlertWebhook, alertChangeIn(...event))] },
];

/** Events of an alert that are sent to webhooks: it was raised, or somebody decided about it. Repetitions are counted only. */
export const whenAlertChangesPlanWebhook = defineReaction({
  name: 'alert-webhooks',
  lane: 'main',
  families: [alertEvents],
  on: {
    AlertRaised: (event) => {
      const { severity, alertType } = event.data;
      return [{ effects: [effect(planAlertWebhook, { ...alertChangeIn(event, 'created', severity), alertType })] }];
    },
    AlertAcknowledged: (event) => planned(event, 'updated'),
    AlertResolved: (event) => planned(event, 'updated'),
    AlertReopened: (event) => planned(event, 'updated'),
    AlertAssigned: (event) => planned(event, 'updated'),
    AlertClaimed: (event) => planned(event, 'updated'),
    AlertSeverityChanged: (event) => planned(event, 'updated', event.data.severity),
  },
});
