import { employeeEvents } from '../domain/events.ts';
import { telemetryForgetting } from '../forget-telemetry.ts';
import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction } from '../../../platform/kernel/reaction.ts';

/** Read models drop an erased person's data by themselves; for the log a job is needed. */
export const whenPersonErasedForgetTelemetry = defineReaction({
  name: 'when-person-erased-forget-telemetry',
  lane: 'main',
  families: [employeeEvents],
  on: {
    EmployeeErased: ({ tenantId, data: { userId } }) => [
      { effects: [enqueue(telemetryForgetting, { tenantId, userId })] },
    ],
  },
});
