import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import { tenantReads } from '../../../src/platform/database/tenant-reads.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import type { TenantReads } from '../../../src/platform/kernel/query.ts';
import { freshDatabase } from '../../dsl/database.ts';

const TENANTS = Array.from({ length: 3 }, () => asTenantId(randomUUID()));
const PAGES = 40;

describe('look-ups of one tick', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  let database: Database;
  let reads: TenantReads[];
  let vitalReads: TenantReads[];
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = openDatabase(fresh.config, pino({ level: 'silent' }));
    await database.owner.query(
      `create table pages (tenant_id uuid not null, n integer not null);
       alter table pages enable row level security;
       create policy tenant on pages for select to castellan_reads using (tenant_id = castellan_tenant());
       grant select on pages to castellan_reads`,
    );
    await database.owner.query('insert into pages select t, n from unnest($1::uuid[]) t, generate_series(1, $2) n', [
      TENANTS,
      PAGES,
    ]);
    const { ordinary, vital } = tenantReads(database.reads);
    reads = TENANTS.map((tenantId) => ordinary(tenantId));
    vitalReads = TENANTS.map((tenantId) => vital(tenantId));
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  /** Filtered by row-level security only: the row's tenant, and the connection that responded. */
  const look = (of: TenantReads, n: number) =>
    of.one<{ tenant_id: string; pid: number }>(
      'select tenant_id, pg_backend_pid() as pid from pages where $1::uuid is not null and n = $2',
      [n],
    );

  it('share few connections, and each sees only its own tenant', async () => {
    const asked = Array.from({ length: PAGES }, (_, at) => at + 1);
    const found = await Promise.all(asked.map((n) => look(reads[n % 3]!, n)));
    expect(found.map((row) => row?.tenant_id)).toEqual(asked.map((n) => TENANTS[n % 3]));
    expect(new Set(found.map((row) => row?.pid)).size).toBe(Math.ceil(PAGES / 16));
  });

  it('are sent together, however far each has come in that tick', async () => {
    const later = async (n: number) => {
      for (let step = 0; step < n; step += 1) await Promise.resolve();
      return look(reads[n % 3]!, n);
    };
    const found = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(later));
    expect(found.map((row) => row?.tenant_id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => TENANTS[n % 3]));
    expect(new Set(found.map((row) => row?.pid)).size).toBe(1);
  });

  it('do not wait for concurrent statistics', async () => {
    const order: string[] = [];
    const counted = reads[0]!
      .figures<{ total: number }>('select count(*)::int as total, pg_sleep(0.5) from pages where tenant_id = $1')
      .then((row) => {
        order.push('figures');
        return row;
      });
    await look(reads[0]!, 1).then(() => order.push('look-up'));
    expect(await counted).toMatchObject({ total: PAGES });
    expect(order).toEqual(['look-up', 'figures']);
  });

  it('keep their results when one fails, and leave the connections usable', async () => {
    for (let round = 0; round < 20; round += 1) {
      const outcomes = await Promise.allSettled([
        look(reads[0]!, 1),
        reads[1]!.one('select 1 / ($2 - 1) from pages where tenant_id = $1', [1]),
        look(reads[2]!, 1),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(
        outcomes.flatMap((outcome) =>
          outcome.status === 'fulfilled' ? [(outcome.value as { tenant_id: string }).tenant_id] : [],
        ),
      ).toEqual([TENANTS[0], TENANTS[2]]);
    }
  });

  it('and longer reads alongside them keep to their tenant on every connection', async () => {
    const rows = (of: TenantReads) =>
      of.rows<{ tenant_id: string }>('select tenant_id from pages where $1::uuid is not null');
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        reads.flatMap((of, at) =>
          [rows(of), rows(of), look(of, 1)].map(async (answer) => ({
            answer: [await answer].flat(),
            tenantId: TENANTS[at],
          })),
        ),
      );
      for (const { answer, tenantId } of answers)
        expect(new Set(answer.map((row) => row?.tenant_id))).toEqual(new Set([tenantId]));
    }
  });

  it('and lists of one tenant leave connections for the others, for sign-in and for look-ups', async () => {
    const release = await database.owner.connect();
    await release.query('select pg_advisory_lock(42)');
    const lists = TENANTS.slice(0, 2).flatMap((_, at) =>
      Array.from({ length: 20 }, () =>
        reads[at]!.rows('select pg_advisory_lock_shared(42), pg_advisory_unlock_shared(42) where $1::uuid is not null'),
      ),
    );
    const held = async () =>
      (
        await release.query(
          `select count(*)::int as held from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
        )
      ).rows[0].held as number;
    await expect.poll(held).toBe(6);
    await look(reads[0]!, 1);
    await look(reads[2]!, 1);
    expect(await vitalReads[2]!.rows('select n from pages where tenant_id = $1')).toHaveLength(PAGES);
    await release.query('select pg_advisory_unlock(42)');
    release.release();
    await Promise.all(lists);
  });

  it('are planned again when a table that they read has changed its columns', async () => {
    const all = () =>
      Promise.all(
        Array.from({ length: 20 }, () =>
          reads[0]!.one<{ n: number; more?: string; pid: number }>(
            'select *, pg_backend_pid() as pid from pages where tenant_id = $1 and n = 1',
          ),
        ),
      );
    const planned = new Set((await all()).map((row) => row?.pid));
    await database.owner.query(`alter table pages add column more text not null default 'x'`);
    for (const row of await all()) expect(row).toMatchObject({ n: 1, more: 'x' });
    // Connections with the old plan are closed instead of being tried again and again.
    expect((await all()).filter((row) => planned.has(row?.pid))).toEqual([]);
  });
});
