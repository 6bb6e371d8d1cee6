import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import { namedOrgAdmin, refuseLosingOrgRights } from '../../src/contexts/organizations/domain/administration.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  orgAdminAccountClaim,
  organization,
  organizationStream,
  type OrgAdminState,
} from '../../src/contexts/organizations/domain/organization.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { alreadyExists, isFailure } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest } from '../ports.ts';

/** Omitted fields keep their values. */
interface UpdateOrgAdmin {
  readonly adminId: string;
  readonly email?: string | undefined;
  readonly displayName?: string | undefined;
  readonly role?: OrgRole | undefined;
  readonly status?: 'active' | 'suspended' | undefined;
}

/** If two owners suspend or demote each other at once, one of them remains an active owner. */
export const updateOrgAdmin = defineCommand({
  name: 'UpdateOrgAdmin',
  aggregate: organization,
  stream: (_input: UpdateOrgAdmin, { tenantId }) => organizationStream(tenantId),
  prepare: async ({ email }: UpdateOrgAdmin, { accountDigest }: WithAccountDigest) => ({
    accountDigest: email === undefined ? undefined : accountDigest(email),
  }),
  decide(state, input, { actor }, { accountDigest }: { accountDigest: string | undefined }) {
    const admin = namedOrgAdmin(state, input.adminId);
    if (isFailure(admin)) return admin;
    const { role = admin.role, status = admin.status } = input;
    const loses = role !== admin.role || (status === 'suspended' && admin.status === 'active');
    const refused = loses ? refuseLosingOrgRights(state, actor, admin) : undefined;
    if (refused) return refused;
    // The same address in other upper and lower case is the same claim.
    const moves = accountDigest !== undefined && accountDigest !== admin.accountDigest;
    return acceptWith(
      { accountDigest: accountDigest ?? admin.accountDigest },
      [...detailsChanged(input, accountDigest), ...standingChanged(admin, role, status)],
      moves
        ? { claim: [orgAdminAccountClaim(accountDigest)], release: [orgAdminAccountClaim(admin.accountDigest)] }
        : {},
    );
  },
  whenClaimed: () => alreadyExists('email'),
  freshens: ['org_admins', 'live-state'],
});

function detailsChanged(
  { adminId, email, displayName }: UpdateOrgAdmin,
  accountDigest: string | undefined,
): OrganizationEvent[] {
  if (email === undefined && displayName === undefined) return [];
  const named = {
    ...(email === undefined ? {} : { email, accountDigest }),
    ...(displayName === undefined ? {} : { displayName }),
  };
  return [{ type: 'OrgAdminUpdated', data: { adminId, ...named } }];
}

function standingChanged(
  { adminId, ...before }: OrgAdminState,
  role: OrgRole,
  status: 'active' | 'suspended',
): OrganizationEvent[] {
  const events: OrganizationEvent[] = [];
  if (role !== before.role) events.push({ type: 'OrgAdminRoleChanged', data: { adminId, role } });
  if (status !== before.status)
    events.push({ type: status === 'suspended' ? 'OrgAdminSuspended' : 'OrgAdminReinstated', data: { adminId } });
  return events;
}
