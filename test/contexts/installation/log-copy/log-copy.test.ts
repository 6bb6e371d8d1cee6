import { hash, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { HeadSealer } from '../../../../src/contexts/audit/head-sealer.ts';
import { SealAlarms } from '../../../../src/contexts/audit/seal-alarms.ts';
import { abandonLogCopy, copyLog, discardCopiedLog } from '../../../../src/app/cli/log.ts';
import { restoreAcceptLog, restoreRebuildFromLog, restoreStatus } from '../../../../src/app/cli/restore.ts';
import type { Application } from '../../../../src/app/compose/compose.ts';
import { EventStoreDbEventStore } from '../../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { PostgresEventStore } from '../../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import type { EventStore, StoredEvent } from '../../../../src/platform/eventstore/port.ts';
import { START } from '../../../../src/platform/kernel/event.ts';
import { hashedContentOf } from '../../../../src/contexts/installation/log-copy/tenant-hashes.ts';
import { httpClient, settle, startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { foldedTables } from '../../../dsl/folded-tables.ts';
import { mustAppend, newAppend, newTenant } from '../../../contracts/event-store/sample.ts';
import { readEverything } from '../../../contracts/event-store/all-stream-pages.ts';
import { ANY } from '../../../fixtures/eventstoredb/event-log.ts';
import { death } from '../../../fixtures/eventstoredb/crashes.ts';
import { startStandIn, type StandIn } from '../../../fixtures/eventstoredb/stand-in.ts';
import { start, withOperator, type MovedInstallation } from './log-copy-state.ts';

const PATIENTLY = { timeout: 30_000 };
const silently = () => undefined;

/** Runs a step of the operator, with the service's own log as its source. Returns the number of broken chains. */
const copying = (
  app: TestApp,
  { to, from, finish = false }: { to?: string; from?: string; finish?: boolean },
): Promise<number> =>
  withOperator(app, from, async (services) => {
    const endpoints = to ? ({ direction: 'to', url: to } as const) : ({ direction: 'from', url: from! } as const);
    const { chains } = await copyLog(services, endpoints, finish, silently);
    return chains.filter(({ valid }) => !valid).length;
  });

/** The contents of events, without their positions. Omits seals and the additions of the tests. */
const contents = (events: readonly StoredEvent[]) =>
  events.filter(({ type }) => type !== '$trimmed').map(hashedContentOf);
const everything = async (store: EventStore) => contents(await readEverything(store, START));

async function expectWell({ services }: { services: Application['services'] }): Promise<void> {
  await settle(services);
  expect((await foldedTables(services)).differences).toEqual([]);
}

const checkpoints = async ({ database }: Application['services']) =>
  (await database.projector.query('select name, version, generation, position, epoch from cursors order by 1, 2, 3'))
    .rows;
const audit = async (admin: Client) =>
  (await admin.get('/api/v1/admin/audit-log/verify')).body as { valid: boolean; entriesChecked: number };
const alertsOf = async (admin: Client) =>
  (await admin.get('/api/v1/admin/alerts')).body.alerts as { id: string; domain: string }[];

/**
 * Tables match the log, no effect was repeated, chains are valid and sealed again, and claims have the same holders.
 */
async function expectSameInstallation(standing: MovedInstallation, tenant: TestTenant, alerts: unknown): Promise<void> {
  const admin = standing.as(tenant);
  await expectWell(standing);
  expect(await alertsOf(admin)).toEqual(alerts);
  expect(await audit(admin)).toMatchObject({ valid: true });
  expect((await admin.post('/api/v1/admin/groups', { name: 'Finance' })).status).toBe(409);
  const alarms = new SealAlarms();
  await new HeadSealer(standing.services, alarms).sealAll();
  expect(alarms.impairment()).toBeUndefined();
  await settle(standing.services);
  expect(await audit(admin)).toMatchObject({ valid: true });
}

/**
 * The next start, minutes later, is ready at once: its checkpoints are at the end of its log, behind the claims that
 * follow the events.
 */
async function expectNothingBehind(app: TestApp, url: string | undefined): Promise<void> {
  const behind = await withOperator(app, url, async ({ database, projector }) => {
    await database.owner.query(`update cursors set updated_at = now() - interval '5 minutes'`);
    return projector.lagging();
  });
  expect(behind).toEqual([]);
}

/** An observation as a browser sends it. Each domain has its own password, because a reused one raises another alert. */
const breachAt = (domain: string) => ({
  eventId: randomUUID(),
  kind: 'credential_attempt',
  occurredAt: new Date().toISOString(),
  domain,
  data: {
    username: 'kim',
    passwordHash: hash('sha256', domain),
    isBreached: true,
    action: 'warn',
    userDecision: 'cancelled',
  },
});

describe('copying the log of an installation', () => {
  let app: TestApp;
  let node: StandIn;
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await app.close();
    await node.stop();
  });

  async function populated(): Promise<{ tenant: TestTenant; device: EnrolledDevice }> {
    const tenant = await app.newTenant();
    const device = await enrolledDevice(app, tenant);
    for (const name of ['Finance', 'Sales'])
      expect((await tenant.admin.post('/api/v1/admin/groups', { name })).status).toBe(201);
    expect((await device.client.post('/api/v1/ext/events', { events: [breachAt('one.example')] })).status).toBeLessThan(
      300,
    );
    await expect.poll(async () => (await alertsOf(tenant.admin)).length, PATIENTLY).toBe(1);
    await new HeadSealer(app.services).sealAll();
    await settle(app.services);
    return { tenant, device };
  }

  it(
    'moves it to EventStoreDB and back, beside another application, through interruptions, and repeats no effect',
    { timeout: 180_000 },
    async () => {
      node = await startStandIn();
      app = await startApp();
      const { tenant, device } = await populated();
      const url = node.connectionString;
      const stranger = () =>
        node.log.append('order-1', ANY, [
          { id: randomUUID(), type: 'OrderPlaced', json: true, data: Buffer.from('{}'), metadata: Buffer.from('{}') },
        ]);
      stranger();

      // The copy is interrupted: once while it writes events, once before it has recorded what it wrote, once among
      // claims.
      const endings: [string, number, (method: string, stream: string | undefined) => boolean][] = [
        ['while it writes events', 4, (method) => method === 'append'],
        ['before it has noted down what it wrote', 0, (method, stream) => method === 'read' && stream === undefined],
        ['among claims', 1, (method, stream) => method === 'append' && stream!.startsWith('claim-')],
      ];
      for (const [when, survives, meant] of endings) {
        let calls = 0;
        node.faults = (method, _, stream) => (meant(method, stream) && ++calls > survives ? death() : undefined);
        await expect(copying(app, { to: url }), when).rejects.toThrow();
        delete node.faults;
      }
      await copying(app, { to: url });
      stranger();

      // The service keeps running. Its new events are copied once it has stopped.
      expect((await tenant.admin.post('/api/v1/admin/groups', { name: 'Support' })).status).toBe(201);
      await settle(app.services);
      const before = await everything(app.services.store);
      const alerts = await alertsOf(tenant.admin);
      await expect(copying(app, { to: url, finish: true })).rejects.toThrow('is still working on');
      await app.application.stop();
      expect(await copying(app, { to: url, finish: true })).toBe(0);
      await expectNothingBehind(app, url);

      const moved = await start(app, url, true);
      closers.push(() => moved.application.stop());
      expect((await everything(moved.services.store)).slice(0, before.length)).toEqual(before);
      await expectSameInstallation(moved, tenant, alerts);
      // From here on, data that only this store holds: a claim, an alert, a seal, an event of telemetry.
      const admin = moved.as(tenant);
      expect((await admin.post('/api/v1/admin/groups', { name: 'Legal' })).status).toBe(201);
      const browser = moved.browser(device);
      expect((await browser.post('/api/v1/ext/events', { events: [breachAt('two.example')] })).status).toBeLessThan(
        300,
      );
      browser.close();
      await expect.poll(async () => (await alertsOf(admin)).length, PATIENTLY).toBe(2);
      await expectWell(moved);
      const later = await alertsOf(admin);
      await moved.application.stop();
      const former = new EventStoreDbEventStore(url);
      closers.push(() => former.close());
      const gone = await everything(former);

      // And back: the old log has to be deleted first.
      await expect(copying(app, { from: url })).rejects.toThrow('castellan log discard');
      await withOperator(app, url, discardCopiedLog);
      let reads = 0;
      node.faults = (method) => (method === 'read' && ++reads > 6 ? death() : undefined);
      await expect(copying(app, { from: url })).rejects.toThrow();
      delete node.faults;
      expect(await copying(app, { from: url, finish: true })).toBe(0);
      await expectNothingBehind(app, undefined);

      const home = await start(app, undefined, true);
      closers.push(() => home.application.stop());
      expect((await everything(home.services.store)).slice(0, gone.length)).toEqual(gone);
      await expectSameInstallation(home, tenant, later);
      expect((await home.as(tenant).post('/api/v1/admin/groups', { name: 'Legal' })).status).toBe(409);
      expect((await home.as(tenant).post('/api/v1/admin/groups', { name: 'Returned' })).status).toBe(201);
    },
  );

  it(
    'refuses a target that holds events or claims of an installation, and one with another unfinished copy',
    { timeout: 90_000 },
    async () => {
      node = await startStandIn();
      app = await startApp();
      await app.newTenant();
      await settle(app.services);
      const used = new EventStoreDbEventStore(node.connectionString);
      closers.push(() => used.close());
      await mustAppend(used, newAppend(newTenant()));
      await expect(copying(app, { to: node.connectionString })).rejects.toThrow('already holds events');
      const other = await startStandIn();
      closers.push(() => other.stop());
      await copying(app, { to: other.connectionString });
      await withOperator(app, undefined, abandonLogCopy);
      await expect(copying(app, { to: other.connectionString })).rejects.toThrow('already holds events');
      // An aborted copy leaves the service unchanged.
      expect(await app.services.store.head()).toBeGreaterThan(0n);
      await app.newTenant();
    },
  );

  it('prevents forgotten processes from writing to the old log', { timeout: 90_000 }, async () => {
    node = await startStandIn();
    app = await startApp();
    await app.newTenant();
    await settle(app.services);
    await app.application.stop();
    expect(await copying(app, { to: node.connectionString, finish: true })).toBe(0);
    const forgotten = await start(app, undefined, false);
    closers.push(() => forgotten.application.stop());
    const store = new PostgresEventStore(forgotten.services.database.store, forgotten.services.database.config);
    await expect(store.append(newAppend(newTenant()))).rejects.toThrow();
    await store.close();
  });

  it(
    'tells a process with a missing or outdated EVENTSTORE_URL where the log is, and prevents a restore',
    { timeout: 180_000 },
    async () => {
      node = await startStandIn();
      app = await startApp();
      const { tenant } = await populated();
      const alerts = await alertsOf(tenant.admin);
      await app.application.stop();
      const url = node.connectionString;

      const expectTold = async (given: string | undefined, sentence: string) => {
        const misled = await start(app, given, true);
        expect(misled.services.trust.doubt).toEqual({ kind: 'contradicted', mismatch: 'log_moved', reason: sentence });
        const { status, body } = await httpClient(misled.application.addresses.http, {}).get('/ready');
        expect([status, body.reason]).toEqual([503, sentence]);
        const lines: string[] = [];
        expect((await restoreStatus(misled.services, (line) => lines.push(line))).mismatch?.kind).toBe('log_moved');
        expect(lines.join('\n')).not.toMatch(/accept-log|rebuild-from-log/);
        const asked = { yes: true, reason: 'a try' } as const;
        const before = await checkpoints(misled.services);
        await expect(restoreAcceptLog(misled.services, asked, silently)).rejects.toThrow(sentence);
        await expect(restoreRebuildFromLog(misled.services, asked, silently)).rejects.toThrow(sentence);
        expect(await checkpoints(misled.services)).toEqual(before);
        await misled.application.stop();
      };

      expect(await copying(app, { to: url, finish: true })).toBe(0);
      await expect(copying(app, { to: url, finish: true })).rejects.toThrow('already finished: set EVENTSTORE_URL');
      await expectTold(undefined, 'the event log was moved to EventStoreDB: set EVENTSTORE_URL');
      const moved = await start(app, url, true);
      await expectSameInstallation(moved, tenant, alerts);
      await moved.application.stop();

      await withOperator(app, url, discardCopiedLog);
      await expectTold(undefined, 'the event log was moved to EventStoreDB: set EVENTSTORE_URL');
      expect(await copying(app, { from: url, finish: true })).toBe(0);
      await expect(copying(app, { from: url, finish: true })).rejects.toThrow(
        'already finished: remove EVENTSTORE_URL',
      );
      await expectTold(url, 'the event log is in PostgreSQL: remove EVENTSTORE_URL');
      const home = await start(app, undefined, true);
      closers.push(() => home.application.stop());
      await expectSameInstallation(home, tenant, alerts);
    },
  );

  it('names the first event that the target returns differently', { timeout: 90_000 }, async () => {
    node = await startStandIn();
    app = await startApp();
    const { tenantId } = await app.newTenant();
    await settle(app.services);
    // A server that loses a byte of its input.
    const append = node.log.append.bind(node.log);
    node.log.append = (name, expected, events) =>
      append(
        name,
        expected,
        name === `tenant-${tenantId}.${tenantId}`
          ? events.map((event) => ({ ...event, data: Buffer.from('{}') }))
          : events,
      );
    await expect(copying(app, { to: node.connectionString })).rejects.toThrow(
      `the copy differs from the log at tenant-${tenantId}`,
    );
  });
});
