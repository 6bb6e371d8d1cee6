import { afterEach, describe, expect, it } from 'vitest';
import { restoreAcceptLog } from '../../../src/app/cli/restore.ts';
import { LogDoubts, recordedLogDoubt } from '../../../src/contexts/installation/log-doubts.ts';
import type { TestApp } from '../../dsl/app.ts';
import type { FreshDatabase } from '../../dsl/database.ts';
import { startStandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { eventually } from '../../platform/projector/projector-application.ts';
import { newSite, type Site } from './installation.ts';

const OLDER = { kind: 'log_older', reason: 'the event log went back: it ends at position 1' } as const;
/** What only a process from before can say. */
const READ_FURTHER = /ends at position \d+, but a process has read it up to \d+/;

let site: Site;
const afterwards: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await site.clear();
  for (const end of afterwards.splice(0)) await end();
});

const begin = async (over: Parameters<typeof newSite>[0] = {}) => {
  site = newSite(over);
  const database = await site.newDatabase();
  return { database, app: await site.start(database) };
};
const ready = async ({ anonymous }: TestApp) => (await anonymous.get('/ready')).status;
const reasonOf = ({ services }: TestApp) =>
  services.trust.doubt?.kind === 'contradicted' ? services.trust.doubt.reason : undefined;
const stopped = (app: TestApp) => eventually('it refuses the log', async () => reasonOf(app) !== undefined);
const sql = (app: TestApp, text: string, values: unknown[] = []) => app.services.database.owner.query(text, values);
/** Connections that are lost make the processes look. */
const failOver = (app: TestApp) =>
  sql(
    app,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'castellan/%'`,
  ).catch(() => undefined);

/** Neither requests nor read models get anything from this process. */
async function expectRefuses(app: TestApp, reason: unknown): Promise<void> {
  expect(reasonOf(app)).toEqual(reason);
  expect((await app.anonymous.get('/ready')).body).toMatchObject({ ready: false, reason });
  expect((await app.anonymous.get('/api/v1/setup/status')).status).toBe(503);
  const head = await app.services.head();
  await expect(app.newTenant()).rejects.toThrow(/service unavailable/);
  expect(await app.services.head()).toBe(head);
}

describe('OP-595 a process that starts while another one refuses the log', () => {
  /** Puts log and tables back together, and stops whoever knows more. */
  const goBack = async (app: TestApp, database: FreshDatabase, cut: (position: bigint) => Promise<unknown>) => {
    await app.newTenant();
    await app.settled();
    const position = await app.services.head();
    await app.newTenant();
    await app.settled();
    const other = await site.start(database);
    await eventually('the other process has read the log', async () => other.services.subscription.head > position);
    await cut(position);
    await sql(app, 'update cursors set position = least(position, $1)', [String(position)]);
    await sql(app, 'update log_watch set position = null, event_id = null');
    await failOver(app);
    for (const each of [app, other]) await stopped(each);
    return other;
  };

  it('refuses it too, with the same words, until all of those have ended', async () => {
    const { app, database } = await begin();
    const other = await goBack(app, database, (position) =>
      sql(app, 'delete from events where position > $1', [String(position)]),
    );
    const third = await site.start(database);
    await expectRefuses(third, expect.stringMatching(READ_FURTHER));
    await app.close();
    // It repeats its own doubt, and nobody else's.
    const fourth = await site.start(database);
    await expectRefuses(fourth, reasonOf(other));
    await other.close();
    for (const each of [third, fourth])
      await eventually('it is ready', async () => (await ready(each)) === 200 && each.services.trust.holds);
    await third.newTenant();
    expect(await recordedLogDoubt(third.services.database.projector)).toBeUndefined();
  });

  it('refuses it too if the log is in EventStoreDB', async () => {
    const node = await startStandIn();
    afterwards.push(() => node.stop());
    const { app, database } = await begin({ eventStoreUrl: node.connectionString });
    let records = 0;
    await app.newTenant();
    await app.settled();
    records = node.log.all.length;
    const position = await app.services.head();
    await app.newTenant();
    await app.settled();
    await sql(app, 'update log_watch set position = null, event_id = null');
    await node.stop();
    const restored = await startStandIn({ port: node.port, log: node.log.olderCopy(records) });
    afterwards.push(() => restored.stop());
    await stopped(app);
    await sql(app, 'update cursors set position = least(position, $1)', [String(position)]);
    await eventually('only what it has read tells', async () => READ_FURTHER.test(reasonOf(app) ?? ''));
    const later = await site.start(database);
    await expectRefuses(later, expect.stringMatching(READ_FURTHER));
  });
});

describe('OP-595 what other processes say', () => {
  it('stops a process that runs, for as long as it is repeated', async () => {
    const { app } = await begin();
    const other = new LogDoubts(app.services.database.projector);
    await other.tell(OLDER);
    await stopped(app);
    await expectRefuses(app, OLDER.reason);
    // The other process has ended without a word.
    await sql(app, `update log_doubts set doubted_at = now() - interval '15 seconds'`);
    await eventually('it is ready', async () => (await ready(app)) === 200);
  });

  it('keeps the log from being accepted while they run', async () => {
    const { app, database } = await begin();
    const other = new LogDoubts(app.services.database.projector);
    await other.tell(OLDER);
    const later = await site.start(database);
    await stopped(app);
    const repeated = setInterval(() => void other.tell(OLDER), 100);
    const accepted = restoreAcceptLog(later.services, { yes: true, reason: 'nothing newer is left' }, () => undefined);
    await expect(accepted).rejects.toThrow(/a process of the service is running/);
    clearInterval(repeated);
    await other.takeBack();
    for (const each of [app, later]) await eventually('it is ready', async () => (await ready(each)) === 200);
  });

  it('is taken back by each for itself', async () => {
    const { app } = await begin();
    await app.close();
    const again = await site.start(await site.newDatabase());
    const pool = again.services.database.projector;
    const [one, two, third] = [new LogDoubts(pool), new LogDoubts(pool), new LogDoubts(pool)];
    await one.tell(OLDER);
    await two.tell({ ...OLDER, reason: 'the same' });
    await two.takeBack();
    expect(await third.ofOthers()).toEqual(OLDER);
    expect(await one.ofOthers()).toBeUndefined();
    await one.takeBack();
    expect(await third.ofOthers()).toBeUndefined();
  });

  it('is believed of the version before, too', async () => {
    const { app } = await begin();
    await sql(app, `update log_watch set doubt = $1, mismatch = $2, doubted_at = now()`, [OLDER.reason, OLDER.kind]);
    await stopped(app);
    await expectRefuses(app, OLDER.reason);
  });

  it('does not stop a process whose settings are right', async () => {
    const { app, database } = await begin();
    const other = new LogDoubts(app.services.database.projector);
    for (const kind of ['log_moved', 'another_installation', 'empty_log', 'empty_tables'] as const) {
      await other.tell({ kind, reason: 'EVENTSTORE_URL leads elsewhere' });
      expect(await recordedLogDoubt(app.services.database.projector)).toMatchObject({ kind });
      expect(await new LogDoubts(app.services.database.projector).ofOthers()).toBeUndefined();
    }
    expect(await ready(await site.start(database))).toBe(200);
  });
});
