import type { MobileAccess } from '../../settings/domain/mobile-access.ts';
import type { AdminState } from '../../tenants/domain/admin.ts';

/**
 * Whether an administrator may use the mobile app: the account is active, its own flag is on, and the map of roles
 * allows its role (OP-046). A role that the map does not have, such as `viewer`, may not.
 */
export const mayUseMobile = (
  admin: Pick<AdminState, 'role' | 'status' | 'mobileAccess'> | undefined,
  byRole: MobileAccess,
): boolean =>
  admin !== undefined &&
  admin.status === 'active' &&
  admin.mobileAccess &&
  (byRole as Readonly<Record<string, boolean>>)[admin.role] === true;
