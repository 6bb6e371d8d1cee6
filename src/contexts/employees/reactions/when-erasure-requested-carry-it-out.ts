import { carryOutErasure } from '../../../../commands/employees/carry-out-erasure.ts';
import { employeeEvents } from '../domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/** Carries out a requested erasure, even if the requesting process ended before it could. */
export const whenErasureRequestedCarryItOut = defineReaction({
  name: 'when-erasure-requested-carry-it-out',
  lane: 'main',
  families: [employeeEvents],
  on: {
    EmployeeErasureRequested: ({ data: { userId } }) => [{ effects: [effect(carryOutErasure, { userId })] }],
  },
});
