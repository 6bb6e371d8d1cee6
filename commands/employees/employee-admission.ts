import { employeeEmailClaim, SEAT } from '../../src/contexts/employees/domain/employee.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { duplicateOf, type Claim } from '../../src/platform/kernel/command.ts';
import { alreadyExists, forbidden, type Failure } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { WithAccountDigest, WithAggregates, WithClaimHolder, WithFreeNumbers } from '../ports.ts';

/** The unique values that a new employee needs besides their data: a free e-mail and a license seat. */
export interface EmployeeAdmission {
  readonly emailDigest: string;
  readonly seat: number;
}

export type EmployeeAdmissionPorts = WithAggregates & WithClaimHolder & WithFreeNumbers & WithAccountDigest;

/** Reports a duplicate e-mail even if no seat is free: a duplicate would not need one. */
export async function admitEmployee(
  tenantId: TenantId,
  email: string,
  ports: EmployeeAdmissionPorts,
): Promise<EmployeeAdmission | Failure> {
  const emailDigest = ports.accountDigest(email);
  const [holder, seat] = await Promise.all([
    ports.claimHolder(tenantId, employeeEmailClaim(emailDigest)),
    freeSeat(tenantId, ports),
  ]);
  if (holder !== undefined) return alreadyExists('email');
  return seat === undefined ? forbidden('license_user_limit') : { emailDigest, seat };
}

/**
 * As `admitEmployee`, for an e-mail that nobody had a moment ago. It is not looked up again: the claim decides. Without a
 * free seat it is, to report a duplicate.
 */
export async function admitNewcomer(
  tenantId: TenantId,
  email: string,
  ports: EmployeeAdmissionPorts,
): Promise<EmployeeAdmission | Failure> {
  const seat = await freeSeat(tenantId, ports);
  return seat === undefined ? admitEmployee(tenantId, email, ports) : { emailDigest: ports.accountDigest(email), seat };
}

/** As `admitNewcomer`, for many: one search finds the seats of all. Whoever gets none is admitted alone. */
export async function admitNewcomers(
  tenantId: TenantId,
  emails: readonly string[],
  ports: EmployeeAdmissionPorts,
): Promise<(EmployeeAdmission | Failure)[]> {
  const seats = await freeSeats(tenantId, ports, emails.length);
  return emails.map((email, at) =>
    seats[at] === undefined
      ? forbidden('license_user_limit')
      : { emailDigest: ports.accountDigest(email), seat: seats[at] },
  );
}

const freeSeat = async (tenantId: TenantId, ports: EmployeeAdmissionPorts): Promise<number | undefined> =>
  (await freeSeats(tenantId, ports, 1))[0];

async function freeSeats(
  tenantId: TenantId,
  { aggregates, freeNumbers }: EmployeeAdmissionPorts,
  most: number,
): Promise<readonly number[]> {
  const { license, seatsEverGranted } = await aggregates.load(tenant, tenantStream(tenantId));
  const limit = { granted: license?.maxUsers ?? 0, everGranted: seatsEverGranted };
  return freeNumbers.several(tenantId, SEAT, limit, most);
}

/** If another command claimed the seat first, any other seat will do. If it claimed the e-mail, this is a duplicate. */
export const retryAdmission = (claim: Claim): Failure | 'prepareAgain' =>
  claim.kind === SEAT ? 'prepareAgain' : duplicateOf(claim);
