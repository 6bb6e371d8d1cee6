import { refuseEnabling } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EnableMfa {
  readonly adminId: string;
  /** The secret for which a code was right. */
  readonly totpSecretRef: string;
  readonly step: number;
  readonly backupCodesRef: string;
  /** How many there are. */
  readonly backupCodes: number;
}

/** The secret that was handed out has given its first code: from the next sign-in on it is asked for. */
export const enableMfa = defineCommand({
  name: 'EnableMfa',
  aggregate: tenant,
  stream: (_input: EnableMfa, { tenantId }) => tenantStream(tenantId),
  decide(state, input) {
    return refuseEnabling(state.admins.get(input.adminId), input) ?? accept([{ type: 'AdminMfaEnabled', data: input }]);
  },
  recall: () => undefined,
  freshens: ['admin_users'],
});
