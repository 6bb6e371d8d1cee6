import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import type { AdminState } from '../../src/contexts/tenants/domain/admin.ts';
import {
  administeredAdmin,
  exceeds,
  governs,
  refuseLosingRights,
  refuseUnlessAdministers,
} from '../../src/contexts/admins/domain/administration.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import type { TenantEvent } from '../../src/contexts/tenants/domain/events.ts';
import { adminEmailClaim, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest } from '../ports.ts';

/** Omitted fields keep their values. */
interface UpdateAdminUser {
  readonly adminId: string;
  readonly email?: string | undefined;
  readonly displayName?: string | undefined;
  readonly roleType?: AdminRole | undefined;
  readonly status?: 'active' | 'suspended' | undefined;
  /** The account is locked out, and `status: 'active'` is to end that. The caller does it after this command. */
  readonly unlocks?: boolean;
  /**
   * Required if the sign-in e-mail changes, if the account gains access, if the admin administers others before or after
   * the change, or is unlocked and administers others.
   */
  readonly reauthenticated?: boolean;
}

export const updateAdminUser = defineCommand({
  name: 'UpdateAdminUser',
  aggregate: tenant,
  stream: (_input: UpdateAdminUser, { tenantId }) => tenantStream(tenantId),
  prepare: async ({ email }: UpdateAdminUser, { accountDigest }: WithAccountDigest) => ({
    accountDigest: email === undefined ? undefined : accountDigest(email),
  }),
  decide(state, input, { actor }, { accountDigest }: { accountDigest: string | undefined }) {
    const admin = administeredAdmin(state, actor, input.adminId);
    if (isFailure(admin)) return admin;
    const wanted: Standing = { role: input.roleType ?? admin.role, status: input.status ?? admin.status };
    const refused = refuseUnlessAdministers(state, actor, [wanted.role]);
    if (refused) return refused;
    // The same address in other upper and lower case is the same claim.
    const moves = accountDigest !== undefined && accountDigest !== admin.accountDigest;
    const needsProof = moves || changesControl(admin, wanted) || (input.unlocks === true && governs(admin.role));
    const unproved = needsProof ? refuseUnlessReauthenticated(actor, input.reauthenticated) : undefined;
    if (unproved) return unproved;
    const refusedLoss = losesRights(admin, wanted) ? refuseLosingRights(state, actor, admin) : undefined;
    if (refusedLoss) return refusedLoss;
    return acceptWith(
      { accountDigest: accountDigest ?? admin.accountDigest },
      [...detailsChanged(input, accountDigest), ...standingChanged(admin, wanted)],
      moves ? { claim: [adminEmailClaim(accountDigest)], release: [adminEmailClaim(admin.accountDigest)] } : {},
    );
  },
  freshens: ['admin_users', 'admin_accounts', 'live-state'],
});

function detailsChanged(
  { adminId, email, displayName }: UpdateAdminUser,
  accountDigest: string | undefined,
): TenantEvent[] {
  if (email === undefined && displayName === undefined) return [];
  const named = {
    ...(email === undefined ? {} : { email, accountDigest }),
    ...(displayName === undefined ? {} : { displayName }),
  };
  return [{ type: 'AdminUserUpdated', data: { adminId, ...named } }];
}

/** The state that determines an admin's rights. */
interface Standing {
  readonly role: AdminRole;
  readonly status: 'active' | 'suspended';
}

/** True if the set of admins who administer others changes, through a role or through a suspension, or an account gains access. */
const changesControl = (before: Standing, after: Standing): boolean =>
  (after.role !== before.role || after.status !== before.status) &&
  (governs(before.role) || governs(after.role) || gainsAccess(before, after));

/** Somebody can do more than before. */
const gainsAccess = (before: Standing, after: Standing): boolean =>
  exceeds(after.role, before.role) || (before.status === 'suspended' && after.status === 'active');

const losesRights = (before: Standing, after: Standing): boolean =>
  after.role !== before.role || (after.status === 'suspended' && before.status === 'active');

function standingChanged({ adminId, ...before }: AdminState, after: Standing): TenantEvent[] {
  const events: TenantEvent[] = [];
  if (after.role !== before.role) events.push({ type: 'AdminRoleChanged', data: { adminId, roleType: after.role } });
  if (after.status !== before.status)
    events.push({ type: after.status === 'suspended' ? 'AdminSuspended' : 'AdminReinstated', data: { adminId } });
  return events;
}
