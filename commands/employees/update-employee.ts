import {
  employee,
  employeeEmailClaim,
  employeeStream,
  type EmployeeState,
} from '../../src/contexts/employees/domain/employee.ts';
import { ownedFields, ownedBySource } from '../../src/contexts/employees/domain/provisioning.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest } from '../ports.ts';

/** Omitted fields keep their value. */
export interface UpdateEmployee {
  readonly userId: string;
  readonly email?: string | undefined;
  readonly displayName?: string | undefined;
  readonly department?: string | null | undefined;
  readonly jobTitle?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly isActive?: boolean | undefined;
  /** Required to change the e-mail: auto-enrollment and verification codes find the person by it. */
  readonly reauthenticated?: boolean;
}

export const updateEmployee = defineCommand({
  name: 'UpdateEmployee',
  aggregate: employee,
  stream: ({ userId }: UpdateEmployee, { tenantId }) => employeeStream(tenantId, userId),
  prepare: async ({ email }: UpdateEmployee, { accountDigest }: WithAccountDigest) => ({
    emailDigest: email === undefined ? undefined : accountDigest(email),
  }),
  decide(
    state,
    { userId, reauthenticated, ...changes },
    { actor },
    { emailDigest }: { emailDigest: string | undefined },
  ) {
    if (state.status !== 'present') return notFound();
    const named = Object.fromEntries(
      Object.entries({ ...changes, emailDigest }).filter(([, value]) => value !== undefined),
    );
    if (Object.keys(named).length === 0) return accept([]);
    const owned = ownedChanges(state, changes);
    if (owned.length > 0) return ownedBySource(owned);
    // The same address with different case is the same claim.
    const moves = emailDigest !== undefined && emailDigest !== state.emailDigest;
    const unproved = moves ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    return accept(
      [{ type: 'EmployeeUpdated', data: { userId, ...named } }],
      moves ? { claim: [employeeEmailClaim(emailDigest)], release: [employeeEmailClaim(state.emailDigest)] } : {},
    );
  },
  freshens: ['employees', 'live-state'],
});

/**
 * Changes of fields that sources own, with the owners. Repeating a value is no change. An administrator may bring back
 * a person of whom no source says that they left.
 */
function ownedChanges({ links, record, isActive }: EmployeeState, changes: Omit<UpdateEmployee, 'userId'>) {
  return ownedFields(links).filter(({ field }) => {
    if (field === 'upn' || field === 'sid') return false;
    if (field !== 'status') return changes[field] !== undefined && changes[field] !== record[field];
    if (changes.isActive === undefined || changes.isActive === isActive) return false;
    return !(changes.isActive && links.every((link) => link.isActive));
  });
}
