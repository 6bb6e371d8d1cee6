import { adminUsers } from '../../projections/admins/admin-users.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toAdminUserView, SELECT_ADMIN_USERS, type AdminUserView, type AdminUserWithLock } from './admin-user-view.ts';

const SQL = `${SELECT_ADMIN_USERS} where u.tenant_id = $1 and u.admin_id = $2`;

export const getAdminUser: Query<{ adminId: string }, AdminUserView> = async (reads, { adminId }) => {
  const row = await reads.one<AdminUserWithLock>(SQL, [adminId]);
  return row ? toAdminUserView(row) : notFound();
};

/** An admin from the events that created them. */
export const viewOfNewAdminUser =
  (tenantId: TenantId, adminId: string) =>
  (events: readonly RecordedEvent[]): AdminUserView | undefined => {
    const row = newRow(adminUsers, { admin_id: adminId }, events);
    return row && toAdminUserView({ ...row, tenant_id: tenantId, locked_until: null });
  };
