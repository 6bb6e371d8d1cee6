import { destroyPersonKey } from '../../../commands/employees/destroy-person-key.ts';
import { employeeEvents } from '../../domain/employees/events.ts';
import { defineReaction } from '../../kernel/reaction.ts';

/** An erasure that was decided is carried out, also when whoever decided it did not live to do so. */
export const whenEmployeeErasedDestroyKey = defineReaction({
  name: 'when-employee-erased-destroy-key',
  lane: 'main',
  families: [employeeEvents],
  on: {
    EmployeeErased: ({ data: { userId } }) => [{ effects: [{ command: destroyPersonKey, input: { userId } }] }],
  },
});
