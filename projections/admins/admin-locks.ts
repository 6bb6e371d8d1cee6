import { foldLogin, NO_TRIES } from '../../src/domain/logins/login.ts';
import { loginEvents } from '../../src/domain/logins/events.ts';
import { tenantEvents } from '../../src/domain/tenants/events.ts';
import type { EventOf, Recorded } from '../../src/kernel/event.ts';
import { defineReadModel, id, integer, json, nullable, timestamp, type Row } from '../../src/kernel/read-model.ts';

const columns = { admin_id: id, tries: json<number[]>(), checks_while_locked: integer, locked_until: nullable(timestamp) };
export type AdminLockRow = Row<{ columns: typeof columns }>;

/** One line an admin who ever tried; strangers' tries are nobody's. */
function counted({ type, data }: Recorded<EventOf<typeof loginEvents>>) {
  const { subjectId } = data;
  if (subjectId === null) return [];
  const fold = (row: AdminLockRow | undefined): AdminLockRow | undefined => {
    const before = row
      ? { tries: row.tries, checksWhileLocked: row.checks_while_locked, lockedUntil: row.locked_until === null ? 0 : Date.parse(row.locked_until) }
      : NO_TRIES;
    const { tries, checksWhileLocked, lockedUntil } = foldLogin(before, { type, data } as EventOf<typeof loginEvents>);
    // Tries come and go with every sign-in: a line without any says the same as none, and is cheaper than one that is removed.
    if (!row && tries.length === 0) return undefined;
    const locked_until = lockedUntil === 0 ? null : new Date(lockedUntil).toISOString();
    return { admin_id: subjectId, tries: [...tries], checks_while_locked: checksWhileLocked, locked_until };
  };
  return [{ key: { admin_id: subjectId }, fold }];
}

/** Until when an admin is locked out: for show. Whether a try is granted is decided on the login's own stream. */
export const adminLocks = defineReadModel({
  name: 'admin_locks',
  version: 2,
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
