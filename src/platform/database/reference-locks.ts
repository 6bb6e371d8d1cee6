import { hash } from 'node:crypto';
import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';
import type { ReferenceLocks } from '../kernel/reference-locks.ts';
import { lockShares } from './pool-shares.ts';
import type { FairLimiter } from '../fairness/fair-limiter.ts';

const SHARED = 'select pg_advisory_xact_lock_shared(key) from unnest($1::bigint[]) as key';
const ALONE = 'select pg_advisory_xact_lock($1::bigint)';

/** Two records with one key wait for each other without need; nothing else happens. */
const keyOf = (tenantId: TenantId, id: string): string =>
  hash('sha256', `castellan/reference|${tenantId}|${id}`, 'buffer').readBigInt64BE().toString();

/**
 * `ReferenceLocks` for all processes, in the PostgreSQL that every installation has: advisory locks, which end with their
 * connection. Work under a lock uses other pools, so that no pool waits for itself. Whoever begins to name a record takes
 * no second lock and waits for nobody else, so there are no deadlocks.
 */
export class PostgresReferenceLocks implements ReferenceLocks {
  readonly #pool: pg.Pool;
  readonly #shares: FairLimiter;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#shares = lockShares(pool);
  }

  naming<T>(tenantId: TenantId, ids: readonly string[], work: () => Promise<T>): Promise<T> {
    const keys = [...new Set(ids.map((id) => keyOf(tenantId, id)))];
    return this.#holding(tenantId, SHARED, [keys], work);
  }

  deleting<T>(tenantId: TenantId, id: string, work: () => Promise<T>): Promise<T> {
    return this.#holding(tenantId, ALONE, [keyOf(tenantId, id)], work);
  }

  #holding<T>(tenantId: TenantId, lock: string, values: unknown[], work: () => Promise<T>): Promise<T> {
    return this.#shares.run(tenantId, async () => {
      const client = await this.#pool.connect();
      let isBroken = true;
      try {
        await client.query('begin');
        await client.query(lock, values);
        isBroken = false;
        return await work();
      } finally {
        // What the work did stands, also if the connection was lost meanwhile.
        if (!isBroken) isBroken = await client.query('commit').then(isFine, isNotFine);
        client.release(isBroken);
      }
    });
  }
}

const isFine = () => false;
const isNotFine = () => true;
