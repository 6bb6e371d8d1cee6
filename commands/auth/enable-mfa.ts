import { tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { conflict, notFound } from '../../src/kernel/failure.ts';

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
    const admin = state.admins.get(input.adminId);
    if (!admin) return notFound();
    if (admin.mfa) return conflict('multi-factor authentication is on already');
    if (admin.pendingTotpSecretRef !== input.totpSecretRef) return conflict('the set-up was started anew');
    return accept([{ type: 'AdminMfaEnabled', data: input }]);
  },
  recall: () => undefined,
  freshens: ['admin_users'],
});
