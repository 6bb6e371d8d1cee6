import { employeeClaims, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteEmployee {
  readonly userId: string;
}

/** Removes the person from all lists and releases e-mail and seat. Devices are revoked afterwards (choice OP-069). */
export const deleteEmployee = defineCommand({
  name: 'DeleteEmployee',
  aggregate: employee,
  stream: ({ userId }: DeleteEmployee, { tenantId }) => employeeStream(tenantId, userId),
  decide(state, { userId }) {
    if (state.status !== 'present') return notFound();
    return accept([{ type: 'EmployeeDeleted', data: { userId } }], { release: employeeClaims(state) });
  },
  freshens: ['employees', 'provisioned_people', 'live-state'],
});
