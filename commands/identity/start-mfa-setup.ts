import { refuseSetup } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface StartMfaSetup {
  readonly adminId: string;
  readonly totpSecretRef: string;
}

/**
 * A new secret replaces one that awaits its first code. One in use has to be disabled first, which takes a password.
 */
export const startMfaSetup = defineCommand({
  name: 'StartMfaSetup',
  aggregate: tenant,
  stream: (_input: StartMfaSetup, { tenantId }) => tenantStream(tenantId),
  decide(state, input) {
    const admin = state.admins.get(input.adminId);
    const refused = refuseSetup(admin);
    if (refused) return refused;
    return accept([{ type: 'AdminMfaSetupStarted', data: input }], { forget: [admin!.pendingTotpSecretRef] });
  },
});
