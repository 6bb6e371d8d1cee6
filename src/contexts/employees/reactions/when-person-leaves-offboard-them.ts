import { endOffboarding } from '../../../../commands/employees/end-offboarding.ts';
import { startOffboarding } from '../../../../commands/employees/start-offboarding.ts';
import type { Envelope } from '../../../platform/kernel/event.ts';
import { enqueue } from '../../../platform/kernel/job.ts';
import { defineReaction, effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { at } from '../../../platform/kernel/read-model.ts';
import { employeeEvents } from '../domain/events.ts';
import type { LeavingCause } from '../domain/offboarding.ts';
import type { ProvisioningSource } from '../domain/provisioning.ts';
import { offboardingWork } from '../offboard-person.ts';

const offboard = (
  event: Envelope,
  userId: string,
  cause: LeavingCause,
  source: ProvisioningSource | null = null,
): { effects: Effect[] }[] => {
  const { id: causeEventId, tenantId, metadata } = event;
  const by = { kind: metadata.actor.kind, id: metadata.actor.id };
  const departure = { userId, cause, causeEventId, causedAt: at(event), by, source };
  return [{ effects: [effect(startOffboarding, departure), enqueue(offboardingWork, { tenantId, userId })] }];
};

/**
 * Whichever source says that a person left, the same process ends what they can do. The command is an effect and not a
 * part of the job, so that departure and return are seen in the order in which they happened.
 */
export const whenPersonLeavesOffboardThem = defineReaction({
  name: 'when-person-leaves-offboard-them',
  lane: 'main',
  families: [employeeEvents],
  on: {
    EmployeeLinkChanged: (event) =>
      event.data.isActive ? [] : offboard(event, event.data.userId, 'deactivated', event.data.source),
    EmployeeUnlinked: (event) =>
      event.data.how === 'left' ? offboard(event, event.data.userId, 'unprovisioned', event.data.source) : [],
    EmployeeUpdated: (event) => {
      const { userId, isActive } = event.data;
      if (isActive === undefined) return [];
      return isActive ? [{ effects: [effect(endOffboarding, { userId })] }] : offboard(event, userId, 'deactivated');
    },
    EmployeeDeleted: (event) => offboard(event, event.data.userId, 'deleted'),
  },
});
