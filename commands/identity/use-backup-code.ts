import { refuseBackupCode } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface UseBackupCode {
  readonly adminId: string;
  readonly backupCodesRef: string;
  /** The index of the code. */
  readonly place: number;
}

/** A backup code is accepted once, and never after its set was replaced. */
export const useBackupCode = defineCommand({
  name: 'UseBackupCode',
  aggregate: tenant,
  stream: (_input: UseBackupCode, { tenantId }) => tenantStream(tenantId),
  decide(state, input) {
    return (
      refuseBackupCode(state.admins.get(input.adminId)?.mfa, input) ??
      accept([{ type: 'AdminBackupCodeUsed', data: input }])
    );
  },
  freshens: ['admin_users'],
});
