import { tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import { conflict, notFound } from '../../src/kernel/failure.ts';

interface StartMfaSetup {
  readonly adminId: string;
  readonly totpSecretRef: string;
}

/** Another secret takes the place of one that waits; one that is in use has to be given up first, which takes a password. */
export const startMfaSetup = defineCommand({
  name: 'StartMfaSetup',
  aggregate: tenant,
  stream: (_input: StartMfaSetup, { tenantId }) => tenantStream(tenantId),
  decide(state, input) {
    const admin = state.admins.get(input.adminId);
    if (!admin) return notFound();
    if (admin.mfa) return conflict('multi-factor authentication is on already');
    const unusedSecrets = admin.pendingTotpSecretRef === undefined ? [] : [admin.pendingTotpSecretRef];
    return acceptWith({ unusedSecrets }, [{ type: 'AdminMfaSetupStarted', data: input }]);
  },
});
