import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import { settleAll, transaction } from './database.ts';

const setTenant = (client: pg.PoolClient, tenantId: TenantId) =>
  client.query({ name: 'set-tenant', text: `select set_config('castellan.tenant', $1, true)`, values: [tenantId] });

/** One transaction that speaks for one tenant: row-level security shows and takes that tenant's rows alone. */
export const asTenant = <T>(pool: pg.Pool, tenantId: TenantId, work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  transaction(pool, async (client) => {
    // Not waited for: what the work sends comes behind it.
    const set = setTenant(client, tenantId);
    const working = work(client);
    await settleAll([set, working]);
    return working;
  });

/** As `asTenant` for a single statement, whose first parameter is the tenant: all of its transaction travels at once. */
export async function statementAsTenant<Row extends pg.QueryResultRow>(pool: pg.Pool, tenantId: TenantId, sql: string, parameters: readonly unknown[], name?: string): Promise<pg.QueryResult<Row>> {
  const client = await pool.connect();
  let broken = false;
  try {
    const statement = { text: sql, values: [tenantId, ...parameters], ...(name ? { name } : {}) };
    const begun = client.query('begin');
    const set = setTenant(client, tenantId);
    const result = client.query<Row>(statement);
    // After a failure the database takes it for a rollback.
    const ended = client.query('commit');
    await settleAll([begun, set, result, ended]);
    return await result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
