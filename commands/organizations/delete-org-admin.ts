import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { namedOrgAdmin, refuseLosingOrgRights } from '../../src/contexts/organizations/domain/administration.ts';
import {
  orgAdminAccountClaim,
  organization,
  organizationStream,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';

interface DeleteOrgAdmin {
  readonly adminId: string;
}

/** Ends every session of the admin and frees the e-mail. If two owners delete each other at once, one of them remains. */
export const deleteOrgAdmin = defineCommand({
  name: 'DeleteOrgAdmin',
  aggregate: organization,
  stream: (_input: DeleteOrgAdmin, { tenantId }) => organizationStream(tenantId),
  decide(state, { adminId }, { actor }) {
    const admin = namedOrgAdmin(state, adminId);
    if (isFailure(admin)) return admin;
    const refused = refuseLosingOrgRights(state, actor, admin);
    if (refused) return refused;
    return accept([{ type: 'OrgAdminDeleted', data: { adminId } }], {
      forget: [admin.passwordRef, ...secretsOfMfa(admin)],
      release: [orgAdminAccountClaim(admin.accountDigest)],
    });
  },
  freshens: ['org_admins', 'admin_sessions', 'live-state'],
});
