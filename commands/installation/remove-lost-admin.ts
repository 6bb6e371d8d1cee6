import { adminEmailClaim, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RemoveLostAdmin {
  readonly adminId: string;
}

/**
 * Removes an admin whose key is lost, so that the e-mail is free again: nothing left of the account allows a sign-in.
 * The last super admin stays, because a tenant without one could not be recovered.
 */
export const removeLostAdmin = defineCommand({
  name: 'RemoveLostAdmin',
  aggregate: tenant,
  stream: (_input: RemoveLostAdmin, { tenantId }) => tenantStream(tenantId),
  decide({ admins }, { adminId }) {
    const admin = admins.get(adminId);
    const others = [...admins].filter(([id, { role }]) => id !== adminId && role === 'super_admin').length;
    if (!admin || (admin.role === 'super_admin' && others === 0)) return accept([]);
    return accept([{ type: 'AdminUserDeleted', data: { adminId } }], {
      release: [adminEmailClaim(admin.accountDigest)],
    });
  },
  freshens: ['admin_users', 'admin_accounts', 'live-state'],
});
