import type pg from 'pg';
import { transaction } from '../../src/platform/database/transaction.ts';
import type { TestApp } from './app.ts';

/** Runs a query as the service reads, and counts the rows of a read model that it took from the table. */
export const countingRows = <T>(
  { services }: TestApp,
  tenantId: string,
  model: string,
  query: (client: pg.PoolClient) => Promise<T>,
): Promise<{ readonly result: T; readonly rows: number }> =>
  transaction(services.database.owner, async (client) => {
    await client.query(`select set_config('castellan.tenant', $1, true)`, [tenantId]);
    await client.query('set local role castellan_reads');
    const before = await rowsTaken(client, model);
    const result = await query(client);
    return { result, rows: (await rowsTaken(client, model)) - before };
  });

async function rowsTaken(client: pg.PoolClient, model: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select (sum(seq_tup_read) + sum(idx_tup_fetch))::int as n from pg_stat_xact_user_tables where starts_with(relname, $1)`,
    [`${model}_v`],
  );
  return rows[0]!.n;
}
