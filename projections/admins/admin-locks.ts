import { foldLogin, lockedOutUntil, NO_ATTEMPTS, type LoginState } from '../../src/contexts/identity/domain/login.ts';
import { loginEvents } from '../../src/contexts/identity/domain/login-events.ts';
import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import type { EventOf, RecordedEvent } from '../../src/platform/kernel/event.ts';
import { defineReadModel, id, json, nullable, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { admin_id: id, standing: json<LoginState>(), locked_until: nullable(timestamp) };
export type AdminLockRow = Row<{ columns: typeof columns }>;

/** One row for each admin who ever tried to sign in. Attempts with unknown names have none. */
function counted({ type, data }: RecordedEvent<EventOf<typeof loginEvents>>) {
  const { subjectId } = data;
  if (subjectId === null) return [];
  const fold = (row: AdminLockRow | undefined): AdminLockRow | undefined => {
    const after = foldLogin(row?.standing ?? NO_ATTEMPTS, { type, data } as EventOf<typeof loginEvents>);
    // Attempts appear and disappear with every sign-in. A row without attempts means the same as no row and is cheaper
    // than a deletion.
    if (!row && Object.keys(after.counters).length === 0) return undefined;
    const lockedUntil = lockedOutUntil(after);
    // Known addresses matter only to decisions; storing them here would add a column to every sign-in's write.
    const standing = { counters: after.counters, knownAddresses: [] };
    return {
      admin_id: subjectId,
      standing,
      locked_until: lockedUntil === 0 ? null : new Date(lockedUntil).toISOString(),
    };
  };
  return [{ key: { admin_id: subjectId }, fold }];
}

/**
 * Until when an admin, or attempts in their name from some address, are locked out. For display only: the login's own
 * stream decides whether an attempt is allowed.
 */
export const adminLocks = defineReadModel({
  name: 'admin_locks',
  version: 3,
  lane: 'main',
  columns,
  key: ['admin_id'],
  families: [loginEvents, tenantEvents, organizationEvents],
  on: {
    LoginAttempted: counted,
    PasswordConfirmed: counted,
    LoginSucceeded: counted,
    LoginUnlocked: counted,
    OrgAdminDeleted: (event) => ({ purge: { admin_id: event.data.adminId } }),
    AdminUserDeleted: (event) => ({ purge: { admin_id: event.data.adminId } }),
  },
});
