import type { Query } from '../../src/platform/kernel/query.ts';
import { toAdminUserView, SELECT_ADMIN_USERS, type AdminUserView, type AdminUserWithLock } from './admin-user-view.ts';

const SQL = `${SELECT_ADMIN_USERS} where u.tenant_id = $1 order by u.created_at desc, u.admin_id`;

/** All admins of a tenant. This list is not paginated (F018). */
export const listAdminUsers: Query<undefined, { adminUsers: AdminUserView[]; total: number }> = async (reads) => {
  const rows = await reads.rows<AdminUserWithLock>(SQL);
  return { adminUsers: rows.map(toAdminUserView), total: rows.length };
};
