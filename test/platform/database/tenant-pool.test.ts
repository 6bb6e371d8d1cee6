import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import { isDatabaseUnavailable } from '../../../src/platform/database/unavailable.ts';
import type { TenantPool } from '../../../src/platform/database/tenant-pool.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { freshDatabase } from '../../dsl/database.ts';

const [ONE, OTHER] = [asTenantId(randomUUID()), asTenantId(randomUUID())] as const;

describe('a pool of tenant connections', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  let database: Database;
  let pool: TenantPool;
  beforeAll(async () => {
    fresh = await freshDatabase();
    // One connection, so that each query meets the state that the previous one left.
    database = openDatabase(fresh.config, pino({ level: 'silent' }), { service: 1 });
    pool = database.service;
    await database.owner.query(
      `create table notes (tenant_id uuid not null, text text not null);
       alter table notes enable row level security;
       create policy tenant on notes to castellan_service using (tenant_id = castellan_tenant());
       grant select, insert on notes to castellan_service;
       create function count_notes_shown() returns void language plpgsql as $$
       begin if exists (select from notes) then raise exception 'shown'; end if; end $$`,
    );
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  /** Filtered by row-level security only. */
  const SEEN = 'select distinct tenant_id from notes where $1::uuid is not null';
  const seenBy = async (tenantId: typeof ONE) =>
    (await pool.statement<{ tenant_id: string }>(tenantId, SEEN, [], 'seen')).rows.map((row) => row.tenant_id);
  const write = (tenantId: typeof ONE, under = tenantId) =>
    pool.statement(tenantId, 'insert into notes (tenant_id, text) select $2, $1::text', [under]);

  it('shows each tenant its own rows, and writes none for another', async () => {
    await Promise.all([write(ONE), write(OTHER), write(ONE)]);
    const seen = await Promise.all([ONE, OTHER, OTHER, ONE, OTHER].map(seenBy));
    expect(seen).toEqual([[ONE], [OTHER], [OTHER], [ONE], [OTHER]]);
    await expect(write(ONE, OTHER)).rejects.toThrow('row-level security');
    expect(await Promise.all([ONE, OTHER].map(seenBy))).toEqual([[ONE], [OTHER]]);
  });

  it('does nothing in a transaction, packet or statement that comes too late, and knows the time again after it', async () => {
    const count = async () => (await pool.statement(ONE, 'select 1 from notes where tenant_id = $1', [])).rowCount;
    const before = await count();
    const now = performance.now.bind(performance);
    const insert = "insert into notes (tenant_id, text) values ($1, 'late')";
    const ways = {
      transaction: () => pool.transaction(ONE, (client) => client.query(insert, [ONE])),
      packet: () => pool.packet(ONE, (client) => client.query(insert, [ONE])),
      inTime: () => pool.inTime(ONE, insert, []),
    };
    for (const way of Object.values(ways)) {
      await pool.packet(ONE, (client) => client.query('select 1'));
      // As if ten seconds had passed since it was sent.
      const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() - 10_000);
      const failed = await way().catch((error: unknown) => error);
      spy.mockRestore();
      expect([(failed as { code?: string }).code, isDatabaseUnavailable(failed)]).toEqual(['CA002', true]);
      expect(await count()).toBe(before);
    }
    await ways.inTime();
    expect(await count()).toBe(before! + 1);
    await database.owner.query(`delete from notes where text = 'late'`);
  });

  it('keeps tenants apart across transactions that commit, fail and time out', async () => {
    const within = (tenantId: typeof ONE, fails: boolean) =>
      pool.transaction(tenantId, async (client) => {
        const { rows } = await client.query<{ tenant_id: string }>(SEEN, [tenantId]);
        if (fails) throw new Error('given up');
        return rows.map((row) => row.tenant_id);
      });
    for (const fails of [false, true]) {
      for (const [before, during] of [
        [ONE, OTHER],
        [OTHER, ONE],
        [ONE, ONE],
      ] as const) {
        expect(await seenBy(before)).toEqual([before]);
        if (fails) await expect(within(during, true)).rejects.toThrow('given up');
        else expect(await within(during, false)).toEqual([during]);
        expect(await seenBy(during)).toEqual([during]);
        await expect(pool.statement(before, 'select 1 / (length($1::text) - 36)', [])).rejects.toThrow(
          'division by zero',
        );
        expect(await seenBy(before)).toEqual([before]);
      }
    }
  });

  it('shows nothing without a tenant, whatever tenant came before', async () => {
    expect(await seenBy(ONE)).toEqual([ONE]);
    await pool.asSystem('select count_notes_shown()');
    expect(await seenBy(ONE)).toEqual([ONE]);
  });
});
