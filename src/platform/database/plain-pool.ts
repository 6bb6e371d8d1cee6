import pg from 'pg';
import { PreparedStatementClient } from './prepared-statement-client.ts';
import { settingsFor, type TimeLimits } from './time-limits.ts';
import { CHECKOUT_MS } from './pool-shares.ts';

const NO_LIMITS: TimeLimits = { statement: 0, lock: 0, idleInTransaction: 0 };

/**
 * A pool whose lost connections never end the process, whether they are idle or in somebody's hands: the driver listens for errors
 * of idle ones only, and an error event that nobody listens to is thrown. Whoever uses a lost one hears of it from its statement.
 */
export function plainPool(config: pg.PoolConfig, limits: TimeLimits = NO_LIMITS): pg.Pool {
  const pool = new pg.Pool({
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    connectionTimeoutMillis: CHECKOUT_MS,
    ...config,
    ...settingsFor(limits),
    Client: PreparedStatementClient,
  } as pg.PoolConfig);
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
