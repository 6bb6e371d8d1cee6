import { employeeClaims, employee, employeeStream } from '../../src/contexts/employees/domain/employee.ts';
import { refuseUnlessReauthenticated } from '../../src/contexts/admins/domain/administration.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ErasePerson {
  readonly userId: string;
  /** Nothing that was erased comes back, so an administrator proves once more who they are. */
  readonly reauthenticated?: boolean;
}

/**
 * Decides that a person is to be forgotten, whether their record is still there or was deleted before. It is carried out
 * after this (`carry-out-erasure.ts`, at once by the caller and again by a reaction): the other way round, a crash in
 * between would leave an e-mail claimed by somebody of whom nothing is known any more.
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
  freshens: ['employees', 'live-state'],
});
