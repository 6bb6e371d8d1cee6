import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import type { FairLimiter } from '../fairness/fair-limiter.ts';
import { ConnectionTenants } from './connection-tenants.ts';
import { Restitution } from './restitution.ts';
import { serviceShares } from './pool-shares.ts';
import { SERVER_NOW, ServerClock } from './server-clock.ts';
import { settleAll, transaction } from './transaction.ts';

const ENTER = {
  name: 'enter-tenant',
  text: `select set_config('castellan.tenant', $1, true), in_time($2), ${SERVER_NOW}`,
};
const LEAVE = { name: 'leave-in-time', text: 'select in_time($1)' };

/** Connections on which every statement runs for a tenant: row-level security allows only that tenant's rows. */
export class TenantPool {
  readonly #pool: pg.Pool;
  readonly #tenants = new ConnectionTenants();
  readonly #shares: FairLimiter;
  readonly #clock = new ServerClock();
  /** What is owed to callers whose statement failed, or may have failed. */
  readonly restitution = new Restitution();
  /** The server's own limit of a statement. Who waits for its result gives up later (`time-limits.ts`). */
  readonly #limitMs: number;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#limitMs = Number(pool.options.statement_timeout || 0);
    this.#shares = serviceShares(pool);
  }

  /** One transaction; any error rolls it back. One that the server begins or ends too late does nothing. */
  transaction<T>(tenantId: TenantId, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#shares.run(tenantId, () =>
      transaction(
        this.#pool,
        async (client) => {
          // Local to this transaction: a rollback would undo a session setting made within it. Not awaited before
          // `work`.
          const entered = this.#enter(client, tenantId);
          const working = work(client);
          await settleAll([entered, working]);
          return working;
        },
        (client) => client.query({ ...LEAVE, values: [this.#deadline] }),
      ).catch(this.#clock.failed),
    );
  }

  get #deadline(): string | null {
    return this.#clock.deadlineIn(this.#limitMs);
  }

  async #enter(client: pg.PoolClient, tenantId: TenantId): Promise<void> {
    const askedAt = performance.now();
    const { rows } = await client.query<{ server_now: number }>({ ...ENTER, values: [tenantId, this.#deadline] });
    this.#clock.heard(rows[0]!.server_now, askedAt);
  }

  /**
   * One transaction of statements that need no result of each other: they travel in one packet, commit included. `send`
   * sends all of them before it waits; any error rolls everything back. One that the server gets too late does nothing.
   */
  async packet<T>(tenantId: TenantId, send: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let sent: Promise<T> | undefined;
    const statements = async (client: pg.PoolClient) => {
      const entered = this.#enter(client, tenantId);
      sent = send(client);
      await settleAll([entered, sent]);
    };
    await this.#shares.run(tenantId, () =>
      transaction(this.#pool, () => Promise.resolve(), statements).catch(this.#clock.failed),
    );
    return sent!;
  }

  /**
   * A single statement for what counts once, such as a token that is spent: executed in time or not at all. Whoever was told
   * that it failed can try again. Its first parameter is the tenant.
   */
  inTime<Row extends pg.QueryResultRow>(
    tenantId: TenantId,
    sql: string,
    parameters: readonly unknown[],
  ): Promise<pg.QueryResult<Row>> {
    return this.packet(tenantId, (client) => client.query<Row>(sql, [tenantId, ...parameters]));
  }

  /**
   * A single statement, a transaction by itself, whose first parameter is the tenant. `name` prepares it once per
   * connection. The server may execute it after its sender has given it up.
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
