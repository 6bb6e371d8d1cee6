import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
