import type pg from 'pg';

/**
 * Closes every connection of a pool that nobody uses. Where one was given up because its server was silent, those beside it may be as
 * dead, and each would cost a caller the same wait.
 */
export function closeIdle(pool: pg.Pool): void {
  if (pool.ending) return;
  for (let idle = pool.idleCount; idle > 0; idle -= 1) pool.connect().then(destroy, () => undefined);
}

/** Without the protocol's farewell, which a silent server would not read either. */
function destroy(client: pg.PoolClient): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  client.release(true);
}
