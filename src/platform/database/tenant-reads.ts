import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import type { TenantReads } from '../kernel/query.ts';
import type { FairLimiter } from '../fairness/fair-limiter.ts';
import { ConnectionTenants } from './connection-tenants.ts';
import { readShares } from './pool-shares.ts';
import { statementName } from './statement-name.ts';
import { settleAll } from './transaction.ts';

/** The columns of a prepared plan changed: a new version of the read model is served. */
const PLAN_CHANGED = '0A000';

/** Look-ups that share a connection at most; more use another one. */
const MAX_TOGETHER = 16;

/** Ordinary reads share a limited part of the connections; `vital` reads (sign-in, devices) have their own part. */
export interface OpenReads {
  ordinary(tenantId: TenantId): TenantReads;
  vital(tenantId: TenantId): TenantReads;
}

/**
 * Opens the read side for tenants. The tenant setting and the query are sent in one packet, so a read costs one round
 * trip.
 */
export function tenantReads(pool: pg.Pool): OpenReads {
  const lines = new ReadLines(pool);
  const { ordinary, vital } = readShares(pool);
  return {
    ordinary: (tenantId) => new PooledTenantReads(lines, ordinary, tenantId),
    vital: (tenantId) => new PooledTenantReads(lines, vital, tenantId),
  };
}

interface Line {
  readonly client: Promise<pg.PoolClient>;
  joined: number;
  underWay: number;
  /** A plan on it is out of date. */
  stale: boolean;
}

/** The connections that reads use. */
class ReadLines {
  readonly #pool: pg.Pool;
  readonly #tenants = new ConnectionTenants();
  #boarding: Line | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** On a connection of its own, so that a long query does not hold up others. */
  async alone<Row extends object>(tenantId: TenantId, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const client = await this.#pool.connect();
    let isStale = false;
    try {
      return await this.#query<Row>(client, tenantId, sql, parameters);
    } catch (error) {
      if ((error as { code?: string }).code !== PLAN_CHANGED) throw error;
      // Run once without preparation. The connection is then closed, because its other plans may be out of date too.
      isStale = true;
      return await this.#query<Row>(client, tenantId, sql, parameters, { isPrepared: false });
    } finally {
      client.release(isStale);
    }
  }

  /** Shares a connection with the other look-ups of this turn of the event loop. One write then serves many callers. */
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
      if (line.underWay === 0)
        void line.client.then(
          (client) => client.release(line.stale),
          () => undefined,
        );
    }
  }

  #board(): Line {
    let line = this.#boarding;
    if (!line || line.joined >= MAX_TOGETHER) {
      const opened: Line = {
        client: nextTurn().then(() => this.#pool.connect()),
        joined: 0,
        underWay: 0,
        stale: false,
      };
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

  async #query<Row extends object>(
    client: pg.PoolClient,
    tenantId: TenantId,
    sql: string,
    parameters: readonly unknown[],
    { isPrepared } = { isPrepared: true },
  ): Promise<Row[]> {
    const tenantSet = this.#tenants.setTenant(client, tenantId);
    const name = isPrepared ? { name: statementName(sql) } : {};
    const result = client.query<Row>({ ...name, text: sql, values: [tenantId, ...parameters] });
    await settleAll([tenantSet, result]);
    return (await result).rows;
  }
}

class PooledTenantReads implements TenantReads {
  readonly #lines: ReadLines;
  readonly #share: FairLimiter;
  readonly tenantId: TenantId;

  constructor(lines: ReadLines, share: FairLimiter, tenantId: TenantId) {
    this.#lines = lines;
    this.#share = share;
    this.tenantId = tenantId;
  }

  rows<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.#share.run(this.tenantId, () => this.#lines.alone(this.tenantId, sql, parameters));
  }

  async one<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.#lines.together<Row>(this.tenantId, sql, parameters))[0];
  }

  async figures<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.rows<Row>(sql, parameters))[0];
  }
}
