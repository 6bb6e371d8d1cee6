import type pg from 'pg';

/**
 * Closes all idle connections of a pool. If one was closed because its server was silent, the others may be dead too,
 * and each would cost a caller the same wait.
 */
export function closeIdle(pool: pg.Pool, onClose: (client: pg.PoolClient) => void = () => undefined): void {
  if (pool.ending) return;
  const close = (client: pg.PoolClient) => {
    onClose(client);
    destroy(client);
  };
  for (let idle = pool.idleCount; idle > 0; idle -= 1) pool.connect().then(close, () => undefined);
}

/** Closes without the protocol's Terminate message, which a silent server would not read either. */
function destroy(client: pg.PoolClient): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  client.release(true);
}
