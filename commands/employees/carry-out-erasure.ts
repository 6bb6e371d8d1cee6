import { employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPersonKeys } from '../ports.ts';

interface CarryOutErasure {
  readonly userId: string;
}

/**
 * Carries out an erasure that was requested before. Destroys the person's key, so that nothing sealed under it can ever
 * be read again, neither in the log nor in a backup. Then it records the erasure; read models drop their copies with
 * that event. After the event nothing can be sealed for the person. Idempotent.
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
    if (status !== 'erasing' && status !== 'erased') return conflict('erasure_not_requested');
    await personKeys.destroy(tenantId, userId);
    return undefined;
  },
  decide: ({ status }, { userId }) =>
    accept(status === 'erasing' ? [{ type: 'EmployeeErased', data: { userId } }] : []),
  freshens: ['employees', 'alert_addresses', 'live-state'],
});
