import type pg from 'pg';

/**
 * Runs `work` in one transaction; any error rolls it back. `last`, if given, sends the last statements. The commit is
 * sent right after them; if one fails, everything is rolled back.
 */
export async function transaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  last?: (client: pg.PoolClient) => Promise<unknown>,
): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    // Not awaited: later statements on this connection are queued after it. If `work` does not wait, all travel in
    // one packet.
    const begun = client.query('begin');
    begun.catch(() => undefined); // reported below
    const result = await work(client);
    const behind = last?.(client) ?? Promise.resolve();
    const committed = client.query('commit');
    await settleAll([begun, behind, committed]);
    const { command } = await committed;
    // The database responds with ROLLBACK, without an error, if a statement had failed whose error `work` ignored.
    if (command !== 'COMMIT') throw new Error('the transaction had failed before its commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** SQLSTATE of a statement that failed only because an earlier one in the transaction had. */
const ECHO = '25P02';

/**
 * Waits for all of these statements of one connection, so that none is in flight when it is released. Throws the
 * first cause.
 */
export async function settleAll(statements: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(statements);
  const reasons = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as Error & { code?: string }] : [],
  );
  if (reasons.length > 0) throw reasons.find(({ code }) => code !== ECHO) ?? reasons[0]!;
}
