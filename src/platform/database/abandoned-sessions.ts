import type pg from 'pg';
import { closeIdle } from './idle-connections.ts';
import { transaction } from './transaction.ts';
import { DatabaseTimeout } from './unavailable.ts';

/** PIDs are reused: a session that began after the loss, `$2` seconds ago, is another one. */
const END = `
  select pg_terminate_backend(pid) from pg_stat_activity
   where pid = any($1::int[]) and usename = session_user and backend_start < now() - make_interval(secs => $2)`;

/** Until the next try, if the server had no connection for the first. */
const AGAIN_MS = 5_000;

/** A session belongs to its login, and another role may not end it. */
const endSessions = (pool: pg.Pool, pids: readonly number[], since: number): Promise<unknown> =>
  transaction(pool, async (client) => {
    await client.query('set local role none');
    await client.query(END, [pids, since]);
  });

type Backend = pg.ClientBase & { readonly processID?: number | null };

/**
 * If the network drops connections silently, the server keeps their sessions until its own keep-alive notices, two hours
 * later by default, and they use up its connections. When the pool has a connection again, it ends them.
 */
export function endAbandonedSessions(pool: pg.Pool): void {
  const abandoned = new Map<number, number>();
  const remember = ({ processID }: Backend) => {
    if (processID) abandoned.set(processID, performance.now());
  };
  const end = () => {
    const ended = [...abandoned];
    abandoned.clear();
    const since = (performance.now() - Math.max(...ended.map(([, at]) => at))) / 1_000;
    endSessions(
      pool,
      ended.map(([pid]) => pid),
      since,
    ).catch(() => {
      for (const [pid, at] of ended) abandoned.set(pid, at);
      setTimeout(endIfAny, AGAIN_MS).unref();
    });
  };
  const endIfAny = () => {
    if (abandoned.size > 0 && !pool.ending) end();
  };
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      if (!(error instanceof DatabaseTimeout)) return;
      remember(client);
      closeIdle(pool, remember);
    });
    endIfAny();
  });
}
