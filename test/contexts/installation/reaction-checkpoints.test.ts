import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { moveReactionCheckpoints } from '../../../src/contexts/installation/restore/reaction-checkpoints.ts';
import type { TestApp } from '../../dsl/app.ts';
import type { FreshDatabase } from '../../dsl/database.ts';
import { newSite } from './installation.ts';

const site = newSite();
let app: TestApp;
let database: FreshDatabase;
beforeAll(async () => {
  database = await site.newDatabase();
  app = await site.start(database);
}, 60_000);
afterAll(() => site.clear());

/** Leases are locked by name. A process that shows a log in doubt takes some while a command accepts the log. */
it('moving the checkpoints of reactions locks them by name, so that it waits for leases and they for it', async () => {
  const { store, codec, database: pools, head } = app.services;
  const lock = 'select name from cursors where name = $1 for update';
  const leases = new pg.Client(database.config);
  await leases.connect();
  try {
    const named = await leases.query<{ name: string }>(
      `select name from cursors where kind = 'reaction' and state <> 'retired' order by name`,
    );
    const [first, last] = [named.rows[0]!.name, named.rows.at(-1)!.name];
    // A table holds its rows in no order that a statement could rely on: here in the opposite one.
    await leases.query(
      'create index backwards on cursors (name desc); cluster cursors using backwards; drop index backwards',
    );
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    const end = await head();
    await leases.query('begin');
    await leases.query(lock, [first]);
    const moved = moveReactionCheckpoints({ store, codec, pool: pools.projector }, end, 'everything');
    await expect.poll(async () => (await site.rows(database, waiting)).length, { timeout: 10_000 }).toBeGreaterThan(0);
    await leases.query(lock, [last]);
    await leases.query('commit');
    await moved;
  } finally {
    await leases.end();
  }
});
