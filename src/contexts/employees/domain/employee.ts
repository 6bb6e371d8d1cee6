import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { employeeEvents } from './events.ts';

/** State for decisions about an employee. Contains no name and no address. */
export interface EmployeeState {
  readonly status: 'none' | 'present' | 'deleted' | 'erasing' | 'erased';
  readonly emailDigest: string;
  readonly seat: number;
  /** False: the devices are suspended, and the employee can neither be verified nor enroll devices. */
  readonly isActive: boolean;
  /** How often the employee became inactive. Codes and keys made before the latest deactivation stay invalid. */
  readonly deactivations: number;
}

const initial: EmployeeState = { status: 'none', emailDigest: '', seat: 0, isActive: false, deactivations: 0 };

export const employee = defineAggregate<EmployeeState, typeof employeeEvents>(
  employeeEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'EmployeeCreated':
        return {
          ...initial,
          status: 'present',
          emailDigest: event.data.emailDigest,
          seat: event.data.seat,
          isActive: event.data.isActive,
        };
      case 'EmployeeUpdated': {
        const { emailDigest = state.emailDigest, isActive = state.isActive } = event.data;
        const deactivations = state.deactivations + (state.isActive && !isActive ? 1 : 0);
        return { ...state, emailDigest, isActive, deactivations };
      }
      case 'EmployeeDeleted':
        return { ...initial, status: 'deleted' };
      case 'EmployeeErasureRequested':
        return { ...initial, status: 'erasing' };
      case 'EmployeeErased':
        return { ...initial, status: 'erased' };
    }
  },
);

/** True for a current employee: not unknown, inactive, deleted or erased. */
export const isEmployed = ({ status, isActive }: EmployeeState): boolean => status === 'present' && isActive;

/** Whether the employee's devices are suspended. False for a placeholder that is about to be created. */
export const hasLeft = ({ status, isActive }: EmployeeState): boolean =>
  status !== 'none' && !(status === 'present' && isActive);

export const employeeStream = (tenantId: TenantId, userId: string): string => streamName('employee', tenantId, userId);

/** An e-mail belongs to one employee of a tenant. The claim's holder is that employee's stream. */
export const employeeEmailClaim = (emailDigest: string): Claim => ({
  kind: 'employee-email',
  value: emailDigest,
  fields: ['email'],
});

/** The seats of the tenant's license are numbered. */
export const SEAT = 'employee-seat';
export const seatClaim = (seat: number): Claim => ({ kind: SEAT, value: String(seat) });

/** The claims of an employee, released when the record is deleted. */
export const employeeClaims = ({ emailDigest, seat }: Pick<EmployeeState, 'emailDigest' | 'seat'>): Claim[] => [
  employeeEmailClaim(emailDigest),
  seatClaim(seat),
];
