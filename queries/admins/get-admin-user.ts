import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toAdminUserView, SELECT_ADMIN_USERS, type AdminUserView, type AdminUserWithLock } from './admin-user-view.ts';

const SQL = `${SELECT_ADMIN_USERS} where u.tenant_id = $1 and u.admin_id = $2`;

export const getAdminUser: Query<{ adminId: string }, AdminUserView> = async (reads, { adminId }) => {
  const row = await reads.one<AdminUserWithLock>(SQL, [adminId]);
  return row ? toAdminUserView(row) : notFound();
};
