import { afterEach, describe, expect, it } from 'vitest';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { positionOf } from '../../../src/platform/eventstore/eventstoredb/positions.ts';
import { recordedLogDoubt } from '../../../src/contexts/installation/log-doubts.ts';
import { compose, type Application } from '../../../src/app/compose/compose.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../../fixtures/eventstoredb/restorable-node.ts';
import { startStandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { eventually } from '../../platform/projector/projector-application.ts';

const PATIENTLY = { timeout: 20_000 };

const createGroup = ({ admin }: TestTenant, name: string) => admin.post('/api/v1/admin/groups', { name });

/** Whoever is refused is told why by the body. */
async function expectCreated(tenant: TestTenant, name: string): Promise<void> {
  const { status, body } = await createGroup(tenant, name);
  expect({ status, body }).toMatchObject({ status: 201, body: { name } });
}

async function expectGroups(tenant: TestTenant, names: readonly string[]): Promise<void> {
  const { body } = await tenant.admin.get('/api/v1/admin/groups');
  expect(body.groups.map(({ name }: { name: string }) => name).toSorted()).toEqual(names.toSorted());
}

/** Everything that projections, reactions and the sealer write. */
async function written({ services }: TestApp): Promise<unknown> {
  const { owner } = services.database;
  const { rows: models } = await owner.query<{ relname: string }>(
    `select relname from pg_class where relkind = 'r' and relname ~ '_v[0-9]+(_[0-9]+)?$' order by relname`,
  );
  const tables: Record<string, unknown> = {};
  for (const { relname } of models)
    tables[relname] = (await owner.query(`select * from ${relname} order by 1::text, 2::text`)).rows;
  tables['cursors'] = (
    await owner.query('select name, version, generation, position, state from cursors order by 1, 2, 3')
  ).rows;
  return tables;
}

const terminate = ({ services }: TestApp) =>
  services.database.owner
    .query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'castellan/%'`,
    )
    .catch(() => undefined);

async function expectStopped(app: TestApp, tenant: TestTenant, said: RegExp): Promise<void> {
  await eventually(
    'the service says that the log went backwards',
    async () => (await app.anonymous.get('/health')).body?.dependencies.event_log.status === 'unhealthy',
  );
  const eventLog = { status: 'unhealthy', message: expect.stringMatching(said) as string };
  await expect
    .poll(() => app.anonymous.get('/health'), PATIENTLY)
    .toMatchObject({ status: 503, body: { dependencies: { event_log: eventLog } } });
  await expect
    .poll(() => app.anonymous.get('/ready'), PATIENTLY)
    .toMatchObject({ status: 503, body: { ready: false, lagging: [], reason: expect.stringMatching(said) as string } });
  await expect
    .poll(async () => (await app.anonymous.get('/metrics')).text, PATIENTLY)
    .toContain('castellan_event_log_trusted 0');
  await expect
    .poll(() => recordedLogDoubt(app.services.database.projector), PATIENTLY)
    .toMatchObject({ reason: expect.stringMatching(said) as string });
  expect((await createGroup(tenant, 'Refused')).status).toBe(503);
  // Not 401: clients must not discard a session that began in the missing part.
  expect((await tenant.admin.get('/api/v1/admin/me')).status).toBe(503);
}

const expectWell = async (app: TestApp) => {
  await eventually('the service is well', async () => (await app.anonymous.get('/ready')).status === 200);
  await expect
    .poll(async () => (await app.anonymous.get('/health')).body, PATIENTLY)
    .toMatchObject({ status: 'healthy' });
  await expect
    .poll(async () => (await app.anonymous.get('/metrics')).text, PATIENTLY)
    .toContain('castellan_event_log_trusted 1');
};

describe('a log that moved backwards under a running service', () => {
  let app: TestApp;
  const closers: (() => Promise<unknown>)[] = [];
  /** After the service has ended. */
  const afterwards: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await app.close();
    for (const end of afterwards.splice(0)) await end();
  });

  /** The database of a replica that missed the newest events and all their consequences. */
  const setBack = async (position: bigint, alsoCheckpoints: boolean) => {
    const { owner } = app.services.database;
    await owner.query('create table lost as select * from events where position > $1', [String(position)]);
    await owner.query('delete from events where position > $1', [String(position)]);
    if (alsoCheckpoints) await owner.query('update cursors set position = least(position, $1)', [String(position)]);
    await terminate(app);
  };

  it('stops writers and reports it, and continues once the lost events are back', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    await createGroup(tenant, 'Before');
    await app.settled();
    const position = await app.services.head();
    for (const name of ['A', 'B', 'C']) await createGroup(tenant, name);
    await app.settled();
    await setBack(position, false);
    await expectStopped(app, tenant, /ends at position \d+, but (read models or reactions|this process)/);
    const before = await written(app);

    await terminate(app);
    await expectStopped(app, tenant, /ends at position/);
    expect(await written(app)).toEqual(before);

    await app.services.database.owner.query('insert into events select * from lost');
    await expectWell(app);
    await expectCreated(tenant, 'After');
    await app.settled();
    await expectGroups(tenant, ['A', 'After', 'B', 'Before', 'C']);
    expect(await recordedLogDoubt(app.services.database.projector)).toBeUndefined();
  });

  it('stops when events were cut off under a writer, whose appends took their positions at once', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    await app.settled();
    const { owner } = app.services.database;
    const position = await app.services.head();
    await createGroup(tenant, 'Lost');
    await app.settled();
    await owner.query('delete from events where position > $1', [String(position)]);
    // The next event is at the position of a lost one, and the one after it is beyond what anybody has read.
    const beyond = (await app.services.head()) + 3n;
    for (let n = 0; n < 6 && (await app.services.head()) <= beyond; n += 1) await createGroup(tenant, `Again ${n}`);
    await expectStopped(app, tenant, /position \d+/);
    // Processes that know nothing of the lost event find it in the tables.
    const later = await another(app);
    expect(later.services.trust.doubt).toEqual({
      kind: 'contradicted',
      mismatch: 'log_older',
      reason: expect.stringMatching(/is not the one that was there before/),
    });
  });

  it('stops a process that has read further, even if checkpoints moved back with the log', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    await app.settled();
    const position = await app.services.head();
    await createGroup(tenant, 'Lost');
    await app.settled();
    await setBack(position, true);
    await expectStopped(app, tenant, /ends at position \d+, but a process has read it up to \d+/);
  });

  it('stops a service that starts on checkpoints beyond the end of the log', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    await app.settled();
    const position = await app.services.head();
    await createGroup(tenant, 'Lost');
    await app.settled();
    await app.services.database.owner.query('delete from events where position > $1', [String(position)]);
    const lines: string[] = [];
    const other = await another(app, newLogger('error', { write: (line: string) => void lines.push(line) }));
    expect(other.services.trust.doubt).toEqual({
      kind: 'contradicted',
      mismatch: 'log_older',
      reason: expect.stringMatching(/read models or reactions have reached/),
    });
    await other.stop();
    // One line for the operator, not one for each part that stands still.
    expect(lines.map((line) => (JSON.parse(line) as { level: number; msg: string }).msg)).toEqual([
      expect.stringMatching(/nothing is written. Run `castellan restore status`/),
    ]);
  });

  it('stops a service that starts on a log with other events at known positions', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    await createGroup(tenant, 'Known');
    await app.settled();
    await eventually(
      'a mark was left',
      async () =>
        (await app.services.database.owner.query('select 1 from log_watch where position is not null')).rowCount === 1,
    );
    await app.services.database.owner.query(
      `update events set id = gen_random_uuid() where position = (select position from log_watch)`,
    );
    const other = await another(app);
    expect(other.services.trust.doubt).toEqual({
      kind: 'contradicted',
      mismatch: 'log_older',
      reason: expect.stringMatching(/is not the one that was there before/),
    });
  });

  it('believes nothing that was read while a connection was lost, although no check saw another log', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    await createGroup(tenant, 'Before');
    await app.settled();
    const { store, trust, subscription } = app.services;
    const { readAll } = store;
    await new Promise<void>((resolve) => {
      store.readAll = async (after, limit, filter) => {
        const page = await readAll(after, limit, filter);
        if (filter || after < subscription.head) return page;
        store.readAll = readAll;
        trust.suspect('a connection was lost');
        resolve();
        return { events: [], position: after + 1_000n };
      };
    });
    await eventually('the log is trusted', () => trust.holds);
    for (const name of ['After', 'And after']) await expectCreated(tenant, name);
    await app.settled();
    await expectGroups(tenant, ['Before', 'After', 'And after']);
  });

  it('is not suspected because of broken connections', async () => {
    app = await startApp();
    const tenant = await app.newTenant();
    for (let round = 0; round < 3; round += 1) {
      await terminate(app);
      await eventually('a group can be made', async () => (await createGroup(tenant, `Group ${round}`)).status === 201);
    }
    await expectWell(app);
    await app.settled();
    expect((await tenant.admin.get('/api/v1/admin/groups')).body.total).toBe(3);
  });

  describe('on EventStoreDB', () => {
    const onNode = async ({ connectionString }: { readonly connectionString: string }) => {
      app = await startApp({ eventStoreUrl: connectionString });
      const tenant = await app.newTenant();
      await createGroup(tenant, 'Before');
      await app.settled();
      return tenant;
    };
    const restorable = async (): Promise<RestorableNode> => {
      const node = await startRestorableNode();
      afterwards.push(() => node.close());
      return node;
    };

    it(
      `stops writers and reports it when an older copy was restored, and continues when the newer one is back (${restorableNodes})`,
      { timeout: RESTORE_TIMEOUT_MS },
      async () => {
        const node = await restorable();
        const tenant = await onNode(node);
        const older = await node.snapshot();
        for (const name of ['A', 'B']) await createGroup(tenant, name);
        await app.settled();
        const whole = await node.snapshot();
        await node.restore(older);
        await expectStopped(app, tenant, /ends at position/);
        await node.restore(whole);
        await expectWell(app);
        await expectCreated(tenant, 'After');
      },
    );

    it(`stops writers when the log is empty (${restorableNodes})`, { timeout: RESTORE_TIMEOUT_MS }, async () => {
      const node = await restorable();
      const tenant = await onNode(node);
      await node.restore();
      await expectStopped(app, tenant, /ends at position/);
    });

    /** Restarts the node with an older copy, in which strangers write on until the service has read past the end. */
    const overgrown = async () => {
      const node = await startStandIn();
      afterwards.push(() => current.stop());
      const tenant = await onNode(node);
      const records = node.log.all.length;
      await createGroup(tenant, 'Lost');
      await app.settled();
      const fork = node.log.olderCopy(records);
      const strange = { ...fork.all.at(-1)!, data: Buffer.from('{"other":"tenant"}') };
      const write = (stream: string, events: number) => {
        for (let event = 0; event < events; event += 1)
          fork.append(stream, -2n, [{ ...strange, id: crypto.randomUUID() }]);
      };
      write('strange-1', 40);
      const { port } = node;
      await node.stop();
      const whole = node.log;
      let current = await startStandIn({ port, log: fork });
      await expectStopped(app, tenant, /is not the one that was there before/);
      // What strangers write here is no reason to refuse the whole log, which ends before it.
      write('strange-2', 400);
      await expectStopped(app, tenant, /is not the one that was there before/);
      await eventually('the process has read past the end of the whole log', async () => {
        await app.services.subscription.wait(app.services.subscription.head, 50);
        await app.services.subscription.read(app.services.subscription.head, 100).catch(() => undefined);
        return app.services.subscription.head > positionOf(whole.all.at(-1)!.position);
      });
      const putBack = async () => {
        await current.stop();
        current = await startStandIn({ port, log: whole });
      };
      return { tenant, putBack };
    };

    it('stops writers when an older copy has grown past the known end with other events', async () => {
      const { tenant, putBack } = await overgrown();
      await putBack();
      await expectWell(app);
      for (const name of ['After', 'And after']) await expectCreated(tenant, name);
      await app.settled();
      await expectGroups(tenant, ['Before', 'Lost', 'After', 'And after']);
    });

    it('believes nothing that a read of the other log brings when the whole one is back', async () => {
      const { tenant, putBack } = await overgrown();
      const { store, trust, subscription } = app.services;
      const readAll = store.readAll;
      let release = () => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      const held = new Promise<void>((resolve) => {
        store.readAll = async (after, limit, filter) => {
          const page = await readAll(after, limit, filter);
          if (after < subscription.head) return page;
          resolve();
          await released;
          return page;
        };
      });
      await subscription.wait(subscription.head, 50);
      const reading = subscription.read(subscription.head, 100);
      await held;
      store.readAll = readAll;
      await putBack();
      await eventually('the log is trusted', () => trust.holds);
      release();
      await reading;
      await expectWell(app);
      for (const name of ['After', 'And after']) await expectCreated(tenant, name);
      await app.settled();
      await expectGroups(tenant, ['Before', 'Lost', 'After', 'And after']);
    });
  });

  /** Another process of this installation; it does not listen. */
  async function another({ config, services }: TestApp, log = newLogger('silent')): Promise<Application> {
    const application = await compose(config, {
      database: services.database.config,
      log,
      passwords: cheapPasswords(),
      listen: false,
    });
    closers.push(() => application.stop());
    return application;
  }
});

describe('idAt', () => {
  it('returns the id of the event at a position, and undefined elsewhere', async () => {
    const node = await startStandIn();
    const { EventStoreDbEventStore } =
      await import('../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts');
    const store: EventStore = new EventStoreDbEventStore(node.connectionString);
    const [, second] = node.log.all;
    expect(await store.idAt(positionOf(second!.position))).toBe(second!.id);
    expect(await store.idAt(positionOf(second!.position) + 1n)).toBeUndefined();
    expect(await store.idAt(10n ** 9n)).toBeUndefined();
    await store.close();
    await node.stop();
  });
});
