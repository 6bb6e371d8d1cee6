import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import {
  mobileAccess,
  mobileAccessStream,
  mobileRoles,
  type MobileAccess,
} from '../../src/contexts/settings/domain/mobile-access.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { forbidden } from '../../src/platform/kernel/failure.ts';

interface SetMobileAccessByRole {
  /** Roles that are left out keep their value. */
  readonly mobileAccess: Partial<MobileAccess>;
  /** Required where a role loses access: it no longer hears of alerts (decision 0129). */
  readonly reauthenticated?: boolean;
  readonly isSuperAdmin?: boolean;
}

/** Returns the new map of all four roles (interface, "Settings"; choice OP-047). */
export const setMobileAccessByRole = defineCommand({
  name: 'SetMobileAccessByRole',
  aggregate: mobileAccess,
  stream: (_input: SetMobileAccessByRole, { tenantId }) => mobileAccessStream(tenantId),
  decide(state, { mobileAccess: wanted, reauthenticated, isSuperAdmin }, { actor }) {
    const changed = mobileRoles.filter((role) => wanted[role] !== undefined && wanted[role] !== state[role]);
    const losing = changed.filter((role) => wanted[role] === false);
    if (losing.includes('super_admin') && actor.kind !== 'system' && isSuperAdmin !== true) return forbidden();
    const unproved = losing.length > 0 ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const changes: Partial<MobileAccess> = Object.fromEntries(changed.map((role) => [role, wanted[role]]));
    const result = { mobileAccess: { ...state, ...changes } };
    return acceptWith(
      result,
      changed.length > 0 ? [{ type: 'MobileAccessByRoleSet', data: { mobileAccess: changes } }] : [],
    );
  },
});
