import { employeeClaims, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import type { EmployeeSource } from '../../src/contexts/employees/domain/events.ts';
import { accept, defineBulkCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';
import {
  admitEmployee,
  admitNewcomers,
  retryAdmission,
  type EmployeeAdmission,
  type EmployeeAdmissionPorts,
} from './employee-admission.ts';

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

/** Creates a monitored person. The e-mail is unique in the tenant (F125), and the person occupies a license seat. */
export const createEmployee = defineBulkCommand({
  name: 'CreateEmployee',
  aggregate: employee,
  stream: ({ userId }: CreateEmployee, { tenantId }) => employeeStream(tenantId, userId),
  prepare: ({ email }: CreateEmployee, ports: EmployeeAdmissionPorts, { tenantId }) =>
    admitEmployee(tenantId, email, ports),
  prepareAll: (inputs: readonly CreateEmployee[], ports: EmployeeAdmissionPorts, { tenantId }) =>
    admitNewcomers(
      tenantId,
      inputs.map(({ email }) => email),
      ports,
    ),
  decide(state, input, _context, { emailDigest, seat }: EmployeeAdmission) {
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
    return accept([{ type: 'EmployeeCreated', data }], { claim: employeeClaims({ emailDigest, seat }) });
  },
  whenClaimed: retryAdmission,
  begins: true,
  freshens: ['employees'],
});
