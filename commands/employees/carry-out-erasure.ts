import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPersonKeys } from '../ports.ts';

interface CarryOutErasure {
  readonly userId: string;
}

/**
 * Carries out an erasure that was decided, and nothing but that: destroys the person's key, by which everything sealed
 * under it, in the log and in every backup of it, can never be read again; then says so. Whatever read models kept of the
 * person goes with that event, behind which nothing can be sealed for them any more. Any number of times is once.
 */
export const carryOutErasure = defineCommand({
  name: 'CarryOutErasure',
  aggregate: employee,
  stream: ({ userId }: CarryOutErasure, { tenantId }) => employeeStream(tenantId, userId),
  async prepare(
    { userId }: CarryOutErasure,
    { aggregates, personKeys }: WithAggregates & WithPersonKeys,
    { tenantId },
  ) {
    const { status } = await aggregates.load(employee, employeeStream(tenantId, userId));
    if (status !== 'erasing' && status !== 'erased') return conflict('no erasure was decided');
    await personKeys.destroy(tenantId, userId);
    return undefined;
  },
  decide: ({ status }, { userId }) =>
    accept(status === 'erasing' ? [{ type: 'EmployeeErased', data: { userId } }] : []),
  freshens: ['employees', 'alert_addresses', 'live-state'],
});
