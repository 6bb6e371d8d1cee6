import type pg from 'pg';

/**
 * Runs `work` in one transaction; any throw rolls back. `last`, when given, is its last statement: the commit is sent right behind
 * it, and undoes everything when it fails.
 */
export async function transaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  last?: (client: pg.PoolClient) => Promise<unknown>,
): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    // Not waited for: what comes next on this connection comes behind it. Work that waits for nothing travels in one packet.
    const begun = client.query('begin');
    begun.catch(() => undefined); // heard of below
    const result = await work(client);
    const behind = last?.(client) ?? Promise.resolve();
    const committed = client.query('commit');
    await settleAll([begun, behind, committed]);
    const { command } = await committed;
    // The database answers ROLLBACK, without an error, when a statement had failed that `work` did not hear of.
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

/** SQLSTATE of a statement that failed only because one before it in the transaction had. */
const ECHO = '25P02';

/** Waits for all of these statements of one connection, so that none is left in flight when it is given back. Throws what failed first. */
export async function settleAll(statements: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(statements);
  const reasons = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as Error & { code?: string }] : [],
  );
  if (reasons.length > 0) throw reasons.find(({ code }) => code !== ECHO) ?? reasons[0]!;
}
