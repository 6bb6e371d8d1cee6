import { planAlertEmail } from '../../../../commands/notifications/plan-alert-email.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { alertEvents } from '../../alerts/domain/events.ts';
import { alertChangeIn } from '../domain/alert-change.ts';

const planned = (...event: Parameters<typeof alertChangeIn>) => [
  { effects: [effect(planAlertEmail, alertChangeIn(...event))] },
];

/** Events of an alert that recipients of e-mail are notified of. Who works on it is of no interest to them. */
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
