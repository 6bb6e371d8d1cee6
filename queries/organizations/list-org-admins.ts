import type { OrgAdminRow } from '../../projections/organizations/org-admins.ts';
import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export interface ListedOrgAdmin {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
  readonly role: OrgRole;
  readonly status: 'active' | 'suspended';
  readonly mfaEnabled: boolean;
}

const SQL = 'select * from org_admins where tenant_id = $1 order by created_at desc, admin_id';

/** All admins of an organization. */
export const listOrgAdmins: Query<void, ListedOrgAdmin[]> = async (reads) => {
  const rows = await reads.rows<OrgAdminRow>(SQL);
  return rows.map((row) => ({
    id: row.admin_id,
    email: row.email,
    displayName: row.display_name,
    role: row.role,
    status: row.status,
    mfaEnabled: row.mfa_enabled,
  }));
};
