import {
  activeOwners,
  organization,
  organizationStream,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface SuspendOrgAdmin {
  readonly adminId: string;
}

/**
 * Suspends an admin and ends every session. If two owners suspend each other at once, one of them remains, so that the
 * organization always has an active owner.
 */
export const suspendOrgAdmin = defineCommand({
  name: 'SuspendOrgAdmin',
  aggregate: organization,
  stream: (_input: SuspendOrgAdmin, { tenantId }) => organizationStream(tenantId),
  decide(state, { adminId }) {
    const admin = state.admins.get(adminId);
    if (!admin) return notFound();
    if (admin.status === 'suspended') return accept([]);
    const [owner, ...others] = activeOwners(state);
    if (owner?.adminId === adminId && others.length === 0) return conflict('last_owner');
    return accept([{ type: 'OrgAdminSuspended', data: { adminId } }]);
  },
  freshens: ['org_admins', 'live-state'],
});
