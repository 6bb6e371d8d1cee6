import pg from 'pg';
import { endAbandonedSessions } from './abandoned-sessions.ts';
import { PreparedStatementClient } from './prepared-statement-client.ts';
import { settingsFor, type TimeLimits } from './time-limits.ts';
import { CHECKOUT_MS } from './pool-shares.ts';

const NO_LIMITS: TimeLimits = { statement: 0, lock: 0, idleInTransaction: 0 };

/**
 * A pool whose lost connections never end the process, idle or checked out. The driver handles errors of idle
 * connections only, and an error event without a listener is thrown. The user of a lost connection gets an error from
 * its statement.
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
  endAbandonedSessions(pool);
  return pool;
}
