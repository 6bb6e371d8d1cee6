import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { administeredAdmin, governs, refuseLosingRights } from '../../src/contexts/admins/domain/administration.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { adminEmailClaim, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';

interface DeleteAdminUser {
  readonly adminId: string;
  /** Required if the admin administers others. */
  readonly reauthenticated?: boolean;
}

/**
 * Ends every session of the admin and frees the e-mail. If two super admins delete each other at once, one of them
 * remains.
 */
export const deleteAdminUser = defineCommand({
  name: 'DeleteAdminUser',
  aggregate: tenant,
  stream: (_input: DeleteAdminUser, { tenantId }) => tenantStream(tenantId),
  decide(state, { adminId, reauthenticated }, { actor }) {
    const admin = administeredAdmin(state, actor, adminId);
    if (isFailure(admin)) return admin;
    const unproved = governs(admin.role) ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const refused = refuseLosingRights(state, actor, admin);
    if (refused) return refused;
    return accept([{ type: 'AdminUserDeleted', data: { adminId } }], {
      forget: [admin.passwordRef, ...secretsOfMfa(admin)],
      release: [adminEmailClaim(admin.accountDigest)],
    });
  },
  freshens: ['admin_users', 'admin_accounts', 'admin_sessions', 'live-state'],
});
