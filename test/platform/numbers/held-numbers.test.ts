import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import type { TenantReads } from '../../../src/platform/kernel/query.ts';
import { heldNumbersFromReadModel } from '../../../src/platform/numbers/held-numbers.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { countingRows } from '../../dsl/rows-read.ts';

const HELD = 3_000;

describe('numbers that are held', () => {
  let app: TestApp;
  const tenantId = randomUUID();
  const other = randomUUID();
  beforeAll(async () => {
    app = await startApp();
    await app.services.database.owner.query(
      `insert into claimed_numbers (tenant_id, kind, holder, number)
       select t::uuid, k, gen_random_uuid(), n from unnest($1::text[]) t, unnest(array['seat', 'slot']) k, generate_series(1, $2) n
        where t = $3 or n <= 10`,
      [[tenantId, other], HELD, tenantId],
    );
  });
  afterAll(() => app.close());

  const ask = async (tenant: string, kind: string, numbers: readonly number[]) => {
    const { result, rows } = await countingRows(app, tenant, 'claimed_numbers', async (client) => {
      const figures = async (sql: string, parameters: readonly unknown[] = []) =>
        (await client.query<{ held: number[] }>(sql, [tenant, ...parameters])).rows[0];
      const reads = { vitalReads: () => ({ figures }) as unknown as TenantReads, freshness: app.services.freshness };
      const held = heldNumbersFromReadModel(reads, () => Promise.resolve(0n));
      return held.heldAmong({ tenantId: asTenantId(tenant), kind }, numbers);
    });
    return { held: [...result].sort((a, b) => a - b), rows };
  };

  it('are those of the tenant and the kind', async () => {
    expect((await ask(tenantId, 'seat', [5, HELD, HELD + 1])).held).toEqual([5, HELD]);
    expect((await ask(other, 'seat', [5, 11])).held).toEqual([5]);
    expect((await ask(randomUUID(), 'seat', [5])).held).toEqual([]);
    expect((await ask(tenantId, 'other', [5])).held).toEqual([]);
  });

  it('are looked up one by one in their index, also in a table without statistics', async () => {
    expect(await ask(tenantId, 'seat', [7, 2_000, HELD + 7])).toEqual({ held: [7, 2_000], rows: 2 });
  });
});

describe('a read side that is behind', () => {
  let position: bigint | undefined;
  let head: bigint;
  let waits: number;
  let progress: () => unknown;
  beforeEach(() => {
    [position, head, waits] = [3n, 5n, 0];
    progress = () => undefined;
  });

  const readSide = {
    vitalReads: () => undefined as unknown as TenantReads,
    freshness: {
      waitFor: async (_: readonly string[], asked: bigint) => {
        waits += 1;
        progress();
        return (position ?? -1n) >= asked;
      },
      positionOf: () => position,
    },
  };
  const opened = () => heldNumbersFromReadModel(readSide, async () => head);

  it('is waited for once while it stands still', async () => {
    const numbers = opened();
    for (let call = 0; call < 3; call += 1) expect(await numbers.catchUp()).toBe(false);
    expect(waits).toBe(1);
  });

  it('is waited for again as soon as it moves', async () => {
    const numbers = opened();
    await numbers.catchUp();
    position = 5n;
    expect(await numbers.catchUp()).toBe(true);
    expect(waits).toBe(2);
  });

  it('is waited for again each time while it moves, though too slowly', async () => {
    progress = () => (position! += 1n);
    const numbers = opened();
    head = 100n;
    for (let call = 0; call < 3; call += 1) expect(await numbers.catchUp()).toBe(false);
    expect(waits).toBe(3);
  });

  it('is waited for again after some seconds: its position may be unknown in this process', async () => {
    position = undefined;
    const now = vi.spyOn(performance, 'now');
    try {
      now.mockReturnValue(1_000);
      const numbers = opened();
      await numbers.catchUp();
      now.mockReturnValue(7_000);
      await numbers.catchUp();
      expect(waits).toBe(2);
    } finally {
      now.mockRestore();
    }
  });
});
