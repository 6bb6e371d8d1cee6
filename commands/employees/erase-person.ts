import { employeeClaims, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ErasePerson {
  readonly userId: string;
  /** Required, because an erasure cannot be undone: the administrator must authenticate again. */
  readonly reauthenticated?: boolean;
}

/**
 * Requests the erasure of a person, whether their record still exists or was deleted before. The erasure itself follows
 * (`carry-out-erasure.ts`), at once by the caller and again by a reaction. In the opposite order, a crash in between
 * would leave an e-mail claimed by an erased person.
 */
export const erasePerson = defineCommand({
  name: 'ErasePerson',
  aggregate: employee,
  stream: ({ userId }: ErasePerson, { tenantId }) => employeeStream(tenantId, userId),
  decide(state, { userId, reauthenticated }, { actor }) {
    if (state.status === 'none') return notFound();
    const unproved = refuseUnlessReauthenticated(actor, reauthenticated);
    if (unproved) return unproved;
    if (state.status === 'erasing' || state.status === 'erased') return accept([]);
    const requested = { type: 'EmployeeErasureRequested', data: { userId } } as const;
    if (state.status === 'deleted') return accept([requested]);
    return accept([{ type: 'EmployeeDeleted', data: { userId } }, requested], { release: employeeClaims(state) });
  },
  freshens: ['employees', 'provisioned_people', 'live-state'],
});
