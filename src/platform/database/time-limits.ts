import type pg from 'pg';
import type { PreparedStatementClient } from './prepared-statement-client.ts';
import { transaction } from './transaction.ts';

/** Time for the response to arrive after the server's own limit. */
const SLACK_MS = 2_000;

/** Time limits of one pool, in milliseconds; 0: none. */
export interface TimeLimits {
  readonly statement: number;
  readonly lock: number;
  readonly idleInTransaction: number;
}

/** The limits as driver settings. The client gives up shortly after the server should have. */
export const settingsFor = ({ statement, lock, idleInTransaction }: TimeLimits) => ({
  statement_timeout: statement,
  lock_timeout: lock,
  idle_in_transaction_session_timeout: idleInTransaction,
  silenceMillis: statement === 0 ? 0 : statement + SLACK_MS,
});

/** Runs one maintenance statement in a transaction of its own, with a longer limit than the pool's. */
export function maintenanceQuery<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  milliseconds: number,
  text: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<Row>> {
  return transaction(pool, async (client) => {
    const lean = client as pg.PoolClient & Partial<Pick<PreparedStatementClient, 'allowSilence'>>;
    await client.query(`set local statement_timeout = ${Math.ceil(milliseconds)}`);
    lean.allowSilence?.(milliseconds + SLACK_MS);
    try {
      return await client.query<Row>(text, [...values]);
    } finally {
      lean.allowSilence?.(undefined);
    }
  });
}
