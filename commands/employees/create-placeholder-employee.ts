import { employeeClaims, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { Failure } from '../../src/platform/kernel/failure.ts';
import {
  admitEmployee,
  retryAdmission,
  type EmployeeAdmission,
  type EmployeeAdmissionPorts,
} from './employee-admission.ts';

interface CreatePlaceholderEmployee {
  readonly userId: string;
  readonly deviceId: string;
}

type Facts = EmployeeAdmission | 'known';

export const placeholderEmail = (deviceId: string) => `device-${deviceId}@placeholder.invalid`;

/** Creates a placeholder for the unknown user of an enrolled device (choice OP-175). Idempotent. */
export const createPlaceholderEmployee = defineCommand({
  name: 'CreatePlaceholderEmployee',
  aggregate: employee,
  stream: ({ userId }: CreatePlaceholderEmployee, { tenantId }) => employeeStream(tenantId, userId),
  async prepare(
    { userId, deviceId }: CreatePlaceholderEmployee,
    ports: EmployeeAdmissionPorts,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { status } = await ports.aggregates.load(employee, employeeStream(tenantId, userId));
    return status === 'none' ? admitEmployee(tenantId, placeholderEmail(deviceId), ports) : 'known';
  },
  decide(state, { userId, deviceId }, _context, facts: Facts) {
    if (facts === 'known' || state.status !== 'none') return accept([]);
    const { emailDigest, seat } = facts;
    const nothing = { department: null, jobTitle: null, externalId: null };
    const data = {
      ...nothing,
      userId,
      email: placeholderEmail(deviceId),
      emailDigest,
      displayName: `Device ${deviceId.slice(0, 8)}`,
      seat,
    };
    return accept(
      [{ type: 'EmployeeCreated', data: { ...data, source: 'enrollment', isActive: true, isPlaceholder: true } }],
      {
        claim: employeeClaims({ emailDigest, seat }),
      },
    );
  },
  whenClaimed: retryAdmission,
  freshens: ['employees'],
});
