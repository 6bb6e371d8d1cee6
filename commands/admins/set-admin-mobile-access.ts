import { administeredAdmin } from '../../src/contexts/admins/domain/administration.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';

interface SetAdminMobileAccess {
  readonly adminId: string;
  /** Undefined toggles the current value (OP-045). */
  readonly mobileAccess: boolean | undefined;
  /** Required where the admin loses access (decision 0129). */
  readonly reauthenticated?: boolean;
}

/** The admin's own flag. The map by role also has to allow access (OP-046). */
export const setAdminMobileAccess = defineCommand({
  name: 'SetAdminMobileAccess',
  aggregate: tenant,
  stream: (_input: SetAdminMobileAccess, { tenantId }) => tenantStream(tenantId),
  decide(state, { adminId, mobileAccess, reauthenticated }, { actor }) {
    const admin = administeredAdmin(state, actor, adminId);
    if (isFailure(admin)) return admin;
    const wanted = mobileAccess ?? !admin.mobileAccess;
    const isLosing = admin.mobileAccess && !wanted;
    const unproved = isLosing ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    return accept(
      wanted === admin.mobileAccess ? [] : [{ type: 'AdminMobileAccessSet', data: { adminId, mobileAccess: wanted } }],
    );
  },
  freshens: ['admin_users'],
});
