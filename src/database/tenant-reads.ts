import { createHash } from 'node:crypto';
import pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import type { TenantReads } from '../kernel/query.ts';

const SET_TENANT = { name: 'set-tenant-for-session', text: `select set_config('castellan.tenant', $1, false)` };
const PAGE = 1_000;

/** A prepared plan whose result changed shape: a new version of the read model is served since. */
const PLAN_CHANGED = '0A000';

/** Opens the read side for tenants. Tenant setting and query leave in one packet: a read costs one round trip. */
export const tenantReads =
  (pool: pg.Pool) =>
  (tenantId: TenantId): TenantReads =>
    new PooledTenantReads(pool, tenantId);

class PooledTenantReads implements TenantReads {
  readonly #pool: pg.Pool;
  readonly tenantId: TenantId;

  constructor(pool: pg.Pool, tenantId: TenantId) {
    this.#pool = pool;
    this.tenantId = tenantId;
  }

  async rows<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const client = await this.#pool.connect();
    try {
      return await this.#query<Row>(client, sql, parameters);
    } catch (error) {
      if ((error as { code?: string }).code !== PLAN_CHANGED) throw error;
      await client.query('deallocate all');
      (client as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements = {};
      return await this.#query<Row>(client, sql, parameters);
    } finally {
      client.release();
    }
  }

  async #query<Row extends object>(client: pg.PoolClient, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    // Every use of a pooled connection names its tenant first, so what the one before left there is never seen.
    const [, { rows }] = await Promise.all([
      client.query({ ...SET_TENANT, values: [this.tenantId] }),
      client.query<Row>({ name: statementName(sql), text: sql, values: [this.tenantId, ...parameters] }),
    ]);
    return rows;
  }

  async one<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.rows<Row>(sql, parameters))[0];
  }

  async *stream<Row extends object>(sql: string, parameters: readonly unknown[] = []): AsyncGenerator<Row> {
    const client = await this.#pool.connect();
    try {
      await client.query('begin isolation level repeatable read read only');
      await client.query(`select set_config('castellan.tenant', $1, true)`, [this.tenantId]);
      await client.query(`declare page no scroll cursor for ${withLiterals(sql, [this.tenantId, ...parameters])}`);
      for (;;) {
        const { rows } = await client.query<Row>(`fetch ${PAGE} from page`);
        yield* rows;
        if (rows.length < PAGE) return;
      }
    } finally {
      await client.query('rollback').catch(() => undefined);
      client.release();
    }
  }
}

/** DECLARE is the one statement that takes no parameters: they are written in, escaped by the driver. */
const withLiterals = (sql: string, values: readonly unknown[]): string =>
  sql.replaceAll(/\$(\d+)/g, (_, place: string) => {
    const value = values[Number(place) - 1];
    return value === null || value === undefined ? 'null' : pg.escapeLiteral(String(value));
  });

const names = new Map<string, string>();

/** Queries are few and constant; each is parsed once a connection. */
function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) names.set(sql, (name = createHash('sha256').update(sql).digest('base64url').slice(0, 24)));
  return name;
}
