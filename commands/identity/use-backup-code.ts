import { useOfBackupCode, type PresentedPlace } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';

interface UseBackupCode extends PresentedPlace {
  readonly adminId: string;
}

/** A backup code is accepted for one sign-in, and never after its set was replaced. */
export const useBackupCode = defineCommand({
  name: 'UseBackupCode',
  aggregate: tenant,
  stream: (_input: UseBackupCode, { tenantId }) => tenantStream(tenantId),
  decide(state, input) {
    const use = useOfBackupCode(state.admins.get(input.adminId)?.mfa, input);
    if (isFailure(use)) return use;
    return accept(use === 'first' ? [{ type: 'AdminBackupCodeUsed', data: input }] : []);
  },
  freshens: ['admin_users'],
});
