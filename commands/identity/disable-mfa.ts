import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DisableMfa {
  readonly adminId: string;
}

/** Disables the second factor, or a pending set-up. Succeeds also if it was already off (OP-040). */
export const disableMfa = defineCommand({
  name: 'DisableMfa',
  aggregate: tenant,
  stream: (_input: DisableMfa, { tenantId }) => tenantStream(tenantId),
  decide(state, { adminId }) {
    const admin = state.admins.get(adminId);
    if (!admin) return notFound();
    const forget = secretsOfMfa(admin);
    return accept(forget.length > 0 ? [{ type: 'AdminMfaDisabled', data: { adminId, reason: 'removed' } }] : [], {
      forget,
    });
  },
  freshens: ['admin_users'],
});
