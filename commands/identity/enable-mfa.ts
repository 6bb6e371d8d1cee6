import { refuseEnabling } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EnableMfa {
  readonly adminId: string;
  /** The secret that the right code belongs to. */
  readonly totpSecretRef: string;
  readonly step: number;
  readonly backupCodesRef: string;
  /** The number of backup codes. */
  readonly backupCodes: number;
}

/** Enables the second factor after its first right code; the next sign-in requires it. */
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
