import { carryOutErasure } from '../../../../commands/employees/carry-out-erasure.ts';
import { employeeEvents } from '../domain/events.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';

/** An erasure that was decided is carried out, also when whoever decided it did not live to do so. */
export const whenErasureRequestedCarryItOut = defineReaction({
  name: 'when-erasure-requested-carry-it-out',
  lane: 'main',
  families: [employeeEvents],
  on: {
    EmployeeErasureRequested: ({ data: { userId } }) => [{ effects: [effect(carryOutErasure, { userId })] }],
  },
});
