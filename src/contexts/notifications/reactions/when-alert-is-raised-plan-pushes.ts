import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import { enqueue } from '../../../platform/kernel/job.ts';
import { asTenantId } from '../../../platform/kernel/ids.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';
import type { Severity } from '../../alerts/domain/vocabulary.ts';
import { alertEvents } from '../../alerts/domain/events.ts';
import { alertChangeIn } from '../domain/alert-change.ts';
import { pushPlanning } from '../push/plan-pushes.ts';

const planned = (
  event: RecordedEvent<{ type: string; data: { alertId: string } }>,
  ...change: [change: 'created' | 'updated', severity?: Severity]
) => [
  {
    effects: [
      enqueue(pushPlanning, {
        tenantId: asTenantId(event.tenantId),
        ...alertChangeIn(event, ...change),
      }),
    ],
  },
];

/** Pushes call people to an alert that needs somebody: a new one, one that became critical, one that is open again. */
export const whenAlertIsRaisedPlanPushes = defineReaction({
  name: 'alert-pushes',
  lane: 'main',
  families: [alertEvents],
  on: {
    AlertRaised: (event) => planned(event, 'created', event.data.severity),
    AlertReopened: (event) => planned(event, 'updated'),
    AlertSeverityChanged: (event) => (event.data.severity === 'critical' ? planned(event, 'updated') : []),
  },
});
