import { z } from 'zod';
import { adminRoleSchema } from '../../src/contexts/identity/domain/roles.ts';
import type { AdminUserRow } from '../../projections/admins/admin-users.ts';

/** OP-019. */
export const adminUserView = z
  .object({
    id: z.uuid(),
    tenantId: z.uuid(),
    email: z.string(),
    displayName: z.string(),
    roleType: adminRoleSchema,
    status: z.enum(['active', 'locked', 'suspended']),
    mfaEnabled: z.boolean(),
    mustChangePassword: z.boolean(),
    mobileAccess: z.boolean(),
    lastLoginAt: z.iso.datetime().nullable(),
    lockedUntil: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'AdminUser' });
export type AdminUserView = z.output<typeof adminUserView>;

/** `locked_until` is null once it has passed: the lock expires without an event. */
export type AdminUserWithLock = AdminUserRow & { readonly tenant_id: string; readonly locked_until: string | null };

export const SELECT_ADMIN_USERS = `
  select u.*, case when l.locked_until > now() then l.locked_until end as locked_until
    from admin_users u
    left join admin_locks l on l.tenant_id = u.tenant_id and l.admin_id = u.admin_id`;

export const toAdminUserView = (row: AdminUserWithLock): AdminUserView => ({
  id: row.admin_id,
  tenantId: row.tenant_id,
  email: row.email,
  displayName: row.display_name,
  roleType: row.role_type,
  status: row.status === 'active' && row.locked_until !== null ? 'locked' : row.status,
  mfaEnabled: row.mfa_enabled,
  mustChangePassword: row.must_change_password,
  mobileAccess: row.mobile_access,
  lastLoginAt: row.last_login_at,
  lockedUntil: row.locked_until,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
