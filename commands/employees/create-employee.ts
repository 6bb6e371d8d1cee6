import { claimsOf, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import type { EmployeeSource } from '../../src/contexts/employees/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';
import { admit, whenAdmissionLost, type Admission, type AdmissionPorts } from './admission.ts';

export interface CreateEmployee {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly department: string | null;
  readonly jobTitle: string | null;
  readonly externalId: string | null;
  readonly source: Exclude<EmployeeSource, 'enrollment'>;
  readonly isActive: boolean;
}

/** A monitored person. The e-mail is theirs alone in the tenant (F125), and they take a seat of the license. */
export const createEmployee = defineCommand({
  name: 'CreateEmployee',
  aggregate: employee,
  stream: ({ userId }: CreateEmployee, { tenantId }) => employeeStream(tenantId, userId),
  prepare: ({ email }: CreateEmployee, ports: AdmissionPorts, { tenantId }) => admit(tenantId, email, ports),
  decide(state, input, _context, { emailDigest, seat }: Admission) {
    if (state.status !== 'none') return conflict();
    const { userId, email, displayName, department, jobTitle, externalId, source, isActive } = input;
    const data = {
      userId,
      email,
      emailDigest,
      displayName,
      department,
      jobTitle,
      externalId,
      source,
      isActive,
      isPlaceholder: false,
      seat,
    };
    return accept([{ type: 'EmployeeCreated', data }], { take: claimsOf({ emailDigest, seat }) });
  },
  whenClaimed: whenAdmissionLost,
  begins: true,
  freshens: ['employees'],
});
