import { describe, expect, it } from 'vitest';
import { adminLocks } from '../../../projections/admins/admin-locks.ts';
import { NOW, recorded, rowsAfter } from '../../dsl/given.ts';

const ADMIN = '88888888-8888-4888-8888-888888888881';
const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();
const tried = (n: number, subjectId: string | null = ADMIN, source = 'address:here') =>
  recorded({ type: 'LoginAttempted', data: { at: at(n), subjectId, locked: false, countedBy: [source] } }, n);
const succeeded = (n: number) =>
  recorded({ type: 'LoginSucceeded', data: { at: at(n), subjectId: ADMIN, source: 'address:here', standing: [] } }, n);
const deleted = (n: number) => recorded({ type: 'AdminUserDeleted', data: { adminId: ADMIN } }, n);
const tries = (count: number) => Array.from({ length: count }, (_, index) => tried(index + 1));

describe('the lock of an admin', () => {
  it('is off while attempts are few, and on with the last one that is allowed', () => {
    expect(rowsAfter(adminLocks, tries(2))).toMatchObject([{ admin_id: ADMIN, locked_until: null }]);
    const [lock] = rowsAfter(adminLocks, tries(10));
    expect(Date.parse(lock!['locked_until'] as string)).toBeGreaterThan(NOW);
  });

  it('is off again, with no attempts left, after a sign-in: in one page or in many', () => {
    const history = [...tries(3), succeeded(4)];
    expect(rowsAfter(adminLocks, history)).toMatchObject([{ standing: { counters: {} }, locked_until: null }]);
    expect(rowsAfter(adminLocks, history, 1)).toEqual(rowsAfter(adminLocks, history));
  });

  it("is not caused by wrong passwords in a session's re-authentication", () => {
    const wrong = Array.from({ length: 6 }, (_, index) => tried(index + 1, ADMIN, 'session:1'));
    expect(rowsAfter(adminLocks, wrong)).toMatchObject([{ locked_until: null }]);
  });

  it('is removed with the admin, and unknown accounts have none', () => {
    expect(rowsAfter(adminLocks, [tried(1), deleted(2)])).toEqual([]);
    expect(rowsAfter(adminLocks, [tried(1, null), succeeded(2)])).toEqual([]);
  });
});
