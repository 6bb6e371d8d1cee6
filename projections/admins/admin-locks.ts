import { foldLogin, lockedOutUntil, NO_ATTEMPTS, type LoginState } from '../../src/contexts/identity/domain/login.ts';
import { loginEvents } from '../../src/contexts/identity/domain/login-events.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import type { EventOf, RecordedEvent } from '../../src/platform/kernel/event.ts';
import { defineReadModel, id, json, nullable, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { admin_id: id, standing: json<LoginState>(), locked_until: nullable(timestamp) };
export type AdminLockRow = Row<{ columns: typeof columns }>;

/** One line an admin who ever tried; strangers' tries are nobody's. */
function counted({ type, data }: RecordedEvent<EventOf<typeof loginEvents>>) {
  const { subjectId } = data;
  if (subjectId === null) return [];
  const fold = (row: AdminLockRow | undefined): AdminLockRow | undefined => {
    const after = foldLogin(row?.standing ?? NO_ATTEMPTS, { type, data } as EventOf<typeof loginEvents>);
    // Tries come and go with every sign-in: a line without any says the same as none, and is cheaper than one that is removed.
    if (!row && Object.keys(after.counters).length === 0) return undefined;
    const lockedUntil = lockedOutUntil(after);
    // Who is known matters to decisions alone, and would be one more column that every sign-in writes.
    const standing = { counters: after.counters, knownAddresses: [] };
    return {
      admin_id: subjectId,
      standing,
      locked_until: lockedUntil === 0 ? null : new Date(lockedUntil).toISOString(),
    };
  };
  return [{ key: { admin_id: subjectId }, fold }];
}

/** Until when an admin, or whoever tries in their name from somewhere, is locked out: for show. Whether a try is granted is decided on the login's own stream. */
export const adminLocks = defineReadModel({
  name: 'admin_locks',
  version: 3,
  lane: 'main',
  columns,
  key: ['admin_id'],
  families: [loginEvents, tenantEvents],
  on: {
    LoginAttempted: counted,
    PasswordConfirmed: counted,
    LoginSucceeded: counted,
    LoginUnlocked: counted,
    AdminUserDeleted: (event) => ({ purge: { admin_id: event.data.adminId } }),
  },
});
