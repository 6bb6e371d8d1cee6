import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { Claim } from '../../kernel/command.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { employeeEvents } from './events.ts';

/** What decisions about an employee need: no name and no address among it. */
export interface EmployeeState {
  readonly status: 'none' | 'present' | 'deleted' | 'erasing' | 'erased';
  readonly emailDigest: string;
  readonly seat: number;
}

const initial: EmployeeState = { status: 'none', emailDigest: '', seat: 0 };

export const employee = defineAggregate<EmployeeState, typeof employeeEvents>(employeeEvents, initial, (state, event) => {
  switch (event.type) {
    case 'EmployeeCreated':
      return { status: 'present', emailDigest: event.data.emailDigest, seat: event.data.seat };
    case 'EmployeeUpdated':
      return { ...state, emailDigest: event.data.emailDigest ?? state.emailDigest };
    case 'EmployeeDeleted':
      return { ...initial, status: 'deleted' };
    case 'EmployeeErasureRequested':
      return { ...initial, status: 'erasing' };
    case 'EmployeeErased':
      return { ...initial, status: 'erased' };
  }
});

export const employeeStream = (tenantId: TenantId, userId: string): string => streamName('employee', tenantId, userId);

/** An e-mail is one employee of a tenant; the claim's holder is that employee's stream. */
export const employeeEmailClaim = (emailDigest: string): Claim => ({ kind: 'employee-email', value: emailDigest });

/** A seat of the tenant's license. */
export const seatClaim = (seat: number): Claim => ({ kind: 'employee-seat', value: String(seat) });

/** What an employee holds, and gives up with the record. */
export const claimsOf = ({ emailDigest, seat }: EmployeeState): Claim[] => [employeeEmailClaim(emailDigest), seatClaim(seat)];
