import { employeeEvents } from '../../domain/employees/events.ts';
import { telemetryForgetting } from '../../employees/forget-telemetry.ts';
import { enqueue } from '../../kernel/job.ts';
import { defineReaction } from '../../kernel/reaction.ts';

/** Read models drop what they kept of a person by themselves; the log has to be asked. */
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
