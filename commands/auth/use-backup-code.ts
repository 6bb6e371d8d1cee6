import { tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { unauthenticated } from '../../src/kernel/failure.ts';

interface UseBackupCode {
  readonly adminId: string;
  readonly backupCodesRef: string;
  /** Which of the codes it is. */
  readonly place: number;
}

/** A backup code lets in once, and not at all after its set was replaced. */
export const useBackupCode = defineCommand({
  name: 'UseBackupCode',
  aggregate: tenant,
  stream: (_input: UseBackupCode, { tenantId }) => tenantStream(tenantId),
  decide(state, input) {
    const mfa = state.admins.get(input.adminId)?.mfa;
    if (mfa?.backupCodesRef !== input.backupCodesRef || mfa.usedBackupCodes.has(input.place)) return unauthenticated('invalid code');
    return accept([{ type: 'AdminBackupCodeUsed', data: input }]);
  },
  freshens: ['admin_users'],
});
