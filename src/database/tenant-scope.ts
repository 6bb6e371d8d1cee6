import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import { transaction } from './database.ts';

/** One transaction that speaks for one tenant: row-level security shows and takes that tenant's rows alone. */
export const asTenant = <T>(
  pool: pg.Pool,
  tenantId: TenantId,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> =>
  transaction(pool, async (client) => {
    await client.query({ name: 'set-tenant', text: `select set_config('castellan.tenant', $1, true)`, values: [tenantId] });
    return work(client);
  });
