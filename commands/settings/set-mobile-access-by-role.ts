import {
  mobileAccess,
  mobileAccessStream,
  mobileRoles,
  type MobileAccess,
} from '../../src/contexts/settings/domain/mobile-access.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

interface SetMobileAccessByRole {
  /** Roles that are left out keep their value. */
  readonly mobileAccess: Partial<MobileAccess>;
}

/** Returns the new map of all four roles (interface, "Settings"; choice OP-047). */
export const setMobileAccessByRole = defineCommand({
  name: 'SetMobileAccessByRole',
  aggregate: mobileAccess,
  stream: (_input: SetMobileAccessByRole, { tenantId }) => mobileAccessStream(tenantId),
  decide(state, { mobileAccess: wanted }) {
    const changed = mobileRoles.filter((role) => wanted[role] !== undefined && wanted[role] !== state[role]);
    const changes: Partial<MobileAccess> = Object.fromEntries(changed.map((role) => [role, wanted[role]]));
    const result = { mobileAccess: { ...state, ...changes } };
    return acceptWith(
      result,
      changed.length > 0 ? [{ type: 'MobileAccessByRoleSet', data: { mobileAccess: changes } }] : [],
    );
  },
});
