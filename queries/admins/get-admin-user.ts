import type { AdminUserRow } from '../../projections/admins/admin-users.ts';
import { notFound } from '../../src/kernel/failure.ts';
import type { Query } from '../../src/kernel/query.ts';
import { adminUserOf, type AdminUserView } from './admin-user-view.ts';

const SQL = 'select * from admin_users where tenant_id = $1 and admin_id = $2';

export const getAdminUser: Query<{ adminId: string }, AdminUserView> = async (reads, { adminId }) => {
  const row = await reads.one<AdminUserRow & { tenant_id: string }>(SQL, [adminId]);
  return row ? adminUserOf(row) : notFound();
};
