import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import type { TenantReads } from '../kernel/query.ts';
import { ConnectionTenants } from './connection-tenants.ts';
import { statementName } from './statement-name.ts';
import { settleAll } from './transaction.ts';

const PAGE = 1_000;

/** A prepared plan whose result changed shape: a new version of the read model is served since. */
const PLAN_CHANGED = '0A000';

/** Look-ups that share a connection; more begin another one. */
const MOST_TOGETHER = 16;

/** Opens the read side for tenants. Tenant setting and query leave in one packet: a read costs one round trip. */
export function tenantReads(pool: pg.Pool): (tenantId: TenantId) => TenantReads {
  const lines = new ReadLines(pool);
  return (tenantId) => new PooledTenantReads(pool, lines, tenantId);
}

interface Line {
  readonly client: Promise<pg.PoolClient>;
  joined: number;
  underWay: number;
  /** Some plan on it is of no use any more. */
  stale: boolean;
}

/** The connections that reads travel on. */
class ReadLines {
  readonly #pool: pg.Pool;
  readonly #tenants = new ConnectionTenants();
  #boarding: Line | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** On a connection of its own: what takes long keeps nobody waiting. */
  async alone<Row extends object>(tenantId: TenantId, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const client = await this.#pool.connect();
    try {
      return await this.#query<Row>(client, tenantId, sql, parameters);
    } catch (error) {
      if ((error as { code?: string }).code !== PLAN_CHANGED) throw error;
      await client.query('deallocate all');
      (client as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements = {};
      return await this.#query<Row>(client, tenantId, sql, parameters);
    } finally {
      client.release();
    }
  }

  /** Together with the other look-ups of this turn of the event loop: many callers are answered by one write, and go on at once. */
  async together<Row extends object>(tenantId: TenantId, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const line = this.#board();
    try {
      return await this.#query<Row>(await line.client, tenantId, sql, parameters);
    } catch (error) {
      if ((error as { code?: string }).code !== PLAN_CHANGED) throw error;
      line.stale = true;
      return await this.alone<Row>(tenantId, sql, parameters);
    } finally {
      line.underWay -= 1;
      if (line.underWay === 0) void line.client.then((client) => client.release(line.stale), () => undefined);
    }
  }

  #board(): Line {
    let line = this.#boarding;
    if (!line || line.joined >= MOST_TOGETHER) {
      const opened: Line = { client: nextTurn().then(() => this.#pool.connect()), joined: 0, underWay: 0, stale: false };
      const leaves = () => {
        if (this.#boarding === opened) this.#boarding = undefined;
      };
      opened.client.then(leaves, leaves);
      this.#boarding = line = opened;
    }
    line.joined += 1;
    line.underWay += 1;
    return line;
  }

  async #query<Row extends object>(client: pg.PoolClient, tenantId: TenantId, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const told = this.#tenants.speakFor(client, tenantId);
    const answer = client.query<Row>({ name: statementName(sql), text: sql, values: [tenantId, ...parameters] });
    await settleAll([told, answer]);
    return (await answer).rows;
  }
}

class PooledTenantReads implements TenantReads {
  readonly #pool: pg.Pool;
  readonly #lines: ReadLines;
  readonly tenantId: TenantId;

  constructor(pool: pg.Pool, lines: ReadLines, tenantId: TenantId) {
    this.#pool = pool;
    this.#lines = lines;
    this.tenantId = tenantId;
  }

  rows<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.#lines.alone(this.tenantId, sql, parameters);
  }

  async one<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.#lines.together<Row>(this.tenantId, sql, parameters))[0];
  }

  async figures<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
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

