import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { PostgresReferenceLocks } from '../../../src/platform/database/reference-locks.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';

/** Two processes of one installation, with locks of their own on one database. */
describe('locks of records', () => {
  let app: TestApp;
  const tenant = asTenantId(randomUUID());
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const ofProcess = (pool = app.services.database.locks) => new PostgresReferenceLocks(pool);
  const gate = () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { open, opened };
  };

  it('let a deletion wait until whoever names the record has done so', async () => {
    const id = randomUUID();
    const [begun, done] = [gate(), gate()];
    const order: string[] = [];
    const naming = ofProcess().naming(tenant, [randomUUID(), id], async () => {
      begun.open();
      await done.opened;
      order.push('named');
    });
    await begun.opened;
    const deleting = ofProcess().deleting(tenant, id, async () => void order.push('deleted'));
    // Others are not concerned.
    await ofProcess().deleting(tenant, randomUUID(), async () => void order.push('another deleted'));
    await ofProcess().naming(asTenantId(randomUUID()), [id], async () => void order.push('of another tenant'));
    done.open();
    await Promise.all([naming, deleting]);
    expect(order).toEqual(['another deleted', 'of another tenant', 'named', 'deleted']);
  });

  it('give the result of the work, or its error, and are free afterwards', async () => {
    const id = randomUUID();
    const locks = ofProcess();
    await expect(locks.deleting(tenant, id, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await locks.naming(tenant, [id], async () => 'named')).toBe('named');
    // The connection that held the lock is lost: what was done stands.
    const lost = locks.deleting(tenant, id, async () => {
      await app.services.database.owner.query(
        `select pg_terminate_backend(pid) from pg_locks
          where locktype = 'advisory' and mode = 'ExclusiveLock'
            and database = (select oid from pg_database where datname = current_database())`,
      );
      return 'done';
    });
    expect(await lost).toBe('done');
    expect(await locks.naming(tenant, [id], async () => 'named')).toBe('named');
  });
});
