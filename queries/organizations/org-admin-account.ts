import { z } from 'zod';
import type { OrgAdminRow } from '../../projections/organizations/org-admins.ts';
import { orgRoleSchema } from '../../src/contexts/identity/domain/roles.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** An account as the organization's other admins see it (OP-343). */
export const orgAdminAccountView = z
  .object({
    id: z.uuid(),
    organizationId: z.uuid(),
    email: z.string(),
    displayName: z.string(),
    role: orgRoleSchema,
    status: z.enum(['active', 'locked', 'suspended']),
    mfaEnabled: z.boolean(),
    mustChangePassword: z.boolean(),
    lastLoginAt: z.iso.datetime().nullable(),
    lockedUntil: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'OrganizationAdmin' });
export type OrgAdminAccountView = z.output<typeof orgAdminAccountView>;

/** `locked_until` is null once it has passed: the lock expires without an event. */
type OrgAdminWithLock = OrgAdminRow & { readonly tenant_id: string; readonly locked_until: string | null };

const SELECT = `
  select a.*, case when l.locked_until > now() then l.locked_until end as locked_until
    from org_admins a
    left join admin_locks l on l.tenant_id = a.tenant_id and l.admin_id = a.admin_id
   where a.tenant_id = $1`;

const toView = (row: OrgAdminWithLock): OrgAdminAccountView => ({
  id: row.admin_id,
  organizationId: row.tenant_id,
  email: row.email,
  displayName: row.display_name,
  role: row.role,
  status: row.status === 'active' && row.locked_until !== null ? 'locked' : row.status,
  mfaEnabled: row.mfa_enabled,
  mustChangePassword: row.must_change_password,
  lastLoginAt: row.last_login_at,
  lockedUntil: row.locked_until,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Runs in the organization's scope. */
export const getOrgAdminAccount: Query<{ adminId: string }, OrgAdminAccountView> = async (reads, { adminId }) => {
  const row = await reads.one<OrgAdminWithLock>(`${SELECT} and a.admin_id = $2`, [adminId]);
  return row ? toView(row) : notFound();
};

/** All admins of the organization, newest first; at most 500 exist. */
export const listOrgAdminAccounts: Query<void, { admins: OrgAdminAccountView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<OrgAdminWithLock>(`${SELECT} order by a.created_at desc, a.admin_id`);
  return { admins: rows.map(toView), total: rows.length };
};
