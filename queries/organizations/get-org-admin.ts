import type { OrgAdminRow } from '../../projections/organizations/org-admins.ts';
import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export interface OrgAdminView {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
  readonly role: OrgRole;
  readonly organizationId: string;
}

const SQL = 'select * from org_admins where tenant_id = $1 and admin_id = $2';

/** Runs in the organization's scope. */
export const getOrgAdmin: Query<{ adminId: string }, OrgAdminView> = async (reads, { adminId }) => {
  const row = await reads.one<OrgAdminRow>(SQL, [adminId]);
  if (!row) return notFound();
  return {
    id: row.admin_id,
    email: row.email,
    displayName: row.display_name,
    role: row.role,
    organizationId: reads.tenantId,
  };
};
