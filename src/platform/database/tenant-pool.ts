import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import type { FairLimiter } from '../fairness/fair-limiter.ts';
import { ConnectionTenants } from './connection-tenants.ts';
import { serviceShares } from './pool-shares.ts';
import { settleAll, transaction } from './transaction.ts';

const SET_TENANT = { name: 'set-tenant', text: `select set_config('castellan.tenant', $1, true)` };

/** Connections on which every statement runs for a tenant: row-level security allows only that tenant's rows. */
export class TenantPool {
  readonly #pool: pg.Pool;
  readonly #tenants = new ConnectionTenants();
  readonly #shares: FairLimiter;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#shares = serviceShares(pool);
  }

  /** One transaction; any error rolls it back. */
  transaction<T>(tenantId: TenantId, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#shares.run(tenantId, () =>
      transaction(this.#pool, async (client) => {
        // Local to this transaction: a rollback would undo a session setting made within it. Not awaited before
        // `work`.
        const tenantSet = client.query({ ...SET_TENANT, values: [tenantId] });
        const working = work(client);
        await settleAll([tenantSet, working]);
        return working;
      }),
    );
  }

  /**
   * One transaction of statements that need no result of each other: they travel in one packet, commit included. `send`
   * sends all of them before it waits; any error rolls everything back.
   */
  async packet<T>(tenantId: TenantId, send: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let sent: Promise<T> | undefined;
    const statements = async (client: pg.PoolClient) => {
      const tenantSet = client.query({ ...SET_TENANT, values: [tenantId] });
      sent = send(client);
      await settleAll([tenantSet, sent]);
    };
    await this.#shares.run(tenantId, () => transaction(this.#pool, () => Promise.resolve(), statements));
    return sent!;
  }

  /**
   * A single statement, a transaction by itself, whose first parameter is the tenant. `name` prepares it once per
   * connection.
   */
  statement<Row extends pg.QueryResultRow>(
    tenantId: TenantId,
    sql: string,
    parameters: readonly unknown[],
    name?: string,
  ): Promise<pg.QueryResult<Row>> {
    return this.#shares.run(tenantId, () => this.#statement<Row>(tenantId, sql, parameters, name));
  }

  async #statement<Row extends pg.QueryResultRow>(
    tenantId: TenantId,
    sql: string,
    parameters: readonly unknown[],
    name?: string,
  ): Promise<pg.QueryResult<Row>> {
    const client = await this.#pool.connect();
    try {
      const tenantSet = this.#tenants.setTenant(client, tenantId);
      const result = client.query<Row>({ text: sql, values: [tenantId, ...parameters], ...(name ? { name } : {}) });
      await settleAll([tenantSet, result]);
      return await result;
    } finally {
      client.release();
    }
  }

  /**
   * A statement without a tenant, to which row-level security shows no tenant's rows: for probes, and functions with
   * their own rights.
   */
  async asSystem<Row extends pg.QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return transaction(this.#pool, async (client) => {
      const noTenantSet = client.query(`select set_config('castellan.tenant', '', true)`);
      const result = client.query<Row>(sql, [...parameters]);
      await settleAll([noTenantSet, result]);
      return (await result).rows;
    });
  }
}
