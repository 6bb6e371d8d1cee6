import { employeeClaims, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteEmployee {
  readonly userId: string;
}

/** Takes the person out of every list and frees e-mail and seat; their devices are revoked after it (choice OP-069). */
export const deleteEmployee = defineCommand({
  name: 'DeleteEmployee',
  aggregate: employee,
  stream: ({ userId }: DeleteEmployee, { tenantId }) => employeeStream(tenantId, userId),
  decide(state, { userId }) {
    if (state.status !== 'present') return notFound();
    return accept([{ type: 'EmployeeDeleted', data: { userId } }], { release: employeeClaims(state) });
  },
  freshens: ['employees', 'live-state'],
});
