import { afterEach, describe, expect, it } from 'vitest';
import { installationStream } from '../../../src/contexts/installation/domain/identity.ts';
import type { MismatchKind } from '../../../src/platform/eventstore/log-trust.ts';
import { KeysMissing } from '../../../src/platform/vault/keyrings.ts';
import { restoreStatus } from '../../../src/app/cli/restore.ts';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../../fixtures/eventstoredb/restorable-node.ts';
import { eventually } from '../../platform/projector/projector-application.ts';
import { newSite, type Site } from './installation.ts';
import type { TestApp } from '../../dsl/app.ts';

const sites: Site[] = [];
const nodes: RestorableNode[] = [];
afterEach(async () => {
  for (const site of sites.splice(0)) await site.clear();
  for (const node of nodes.splice(0)) await node.close();
});

const site = (over: Parameters<typeof newSite>[0] = {}): Site => {
  const made = newSite(over);
  sites.push(made);
  return made;
};
const newNode = async (): Promise<RestorableNode> => {
  const node = await startRestorableNode();
  nodes.push(node);
  return node;
};

const inLog = async ({ services }: TestApp) =>
  (await services.store.readStream(installationStream())).map(({ type, data }) => ({ type, ...(data as object) }));

/** Log, /health and commands report the same kind of mismatch, and nothing is written. */
async function expectRefused(app: TestApp, kind: MismatchKind, said: RegExp): Promise<void> {
  const { services, url } = app;
  const at = async (path: string) => {
    const answer = await fetch(url + path);
    return { status: answer.status, text: await answer.text() };
  };
  await eventually(`the service says ${kind}`, async () => services.trust.doubt?.kind === 'contradicted');
  expect(services.trust.doubt).toEqual({ kind: 'contradicted', mismatch: kind, reason: expect.stringMatching(said) });
  expect(await at('/health')).toMatchObject({ status: 503, text: expect.stringMatching(said) });
  const ready = await at('/ready');
  expect(ready.status).toBe(503);
  expect((JSON.parse(ready.text) as { reason: string }).reason).toMatch(said);
  const metrics = (await at('/metrics')).text;
  expect(metrics).toContain(`castellan_event_log_mismatch{kind="${kind}"} 1`);
  expect(metrics.match(/castellan_event_log_mismatch\{.*\} 1/g)).toHaveLength(1);
  expect((await at('/api/v1/setup/status')).status).toBe(503);
  const lines: string[] = [];
  await restoreStatus(services, (line) => lines.push(line));
  expect(lines.join('\n')).toMatch(said);
  expect(lines.join('\n')).toContain(`(${kind})`);
}

describe('a new installation', () => {
  it('records its identity, in the log and in its tables, once', async () => {
    const here = site();
    const database = await here.newDatabase();
    const first = await here.start(database);
    const second = await here.start(database);
    const [identified, ...more] = await inLog(first);
    expect(more).toEqual([]);
    expect(identified).toMatchObject({ type: 'InstallationIdentified', format: 1 });
    expect(await first.services.installation.inTables()).toMatchObject({
      ...(await first.services.installation.inLog()),
      inLog: true,
    });
    expect(second.services.trust.holds).toBe(true);
  });

  it('is created once, however many of its processes start at once on an empty log', async () => {
    const node = await newNode();
    const here = site({ eventStoreUrl: node.connectionString });
    const database = await here.newDatabase();
    const processes = await Promise.all([1, 2, 3, 4].map(() => here.start(database)));
    expect(await inLog(processes[0]!)).toHaveLength(1);
    for (const { services } of processes)
      await eventually('every process trusts the log', async () => services.trust.holds);
  });

  it('never replaces its digest keys', async () => {
    const here = site();
    const database = await here.newDatabase();
    const app = await here.start(database);
    await app.services.database.owner.query(`delete from kept_keys where purpose = 'account'`);
    await app.close();
    await expect(here.start(database)).rejects.toThrow(KeysMissing);
    await expect(here.start(database)).rejects.toThrow(/keys are missing.*account/);
  });
});

describe(`two installations on one EventStoreDB (${restorableNodes})`, { timeout: RESTORE_TIMEOUT_MS }, () => {
  it('refuse the second one with new tables', async () => {
    const node = await newNode();
    const [ours, theirs] = [
      site({ eventStoreUrl: node.connectionString }),
      site({ eventStoreUrl: node.connectionString }),
    ];
    const first = await ours.start(await ours.newDatabase());
    await first.newTenant();
    const second = await theirs.start(await theirs.newDatabase());
    await expectRefused(second, 'another_installation', /belongs to another installation/);
    expect(first.services.trust.holds).toBe(true);
    expect(await inLog(first)).toHaveLength(1);
  });

  it('refuse the second one that was used elsewhere before', async () => {
    const [node, other] = [await newNode(), await newNode()];
    const [ours, theirs] = [site(), site()];
    const first = await ours.start(await ours.newDatabase(), { eventStoreUrl: node.connectionString });
    await first.newTenant();
    const database = await theirs.newDatabase();
    const elsewhere = await theirs.start(database, { eventStoreUrl: other.connectionString });
    await elsewhere.newTenant();
    await elsewhere.close();
    const second = await theirs.start(database, { eventStoreUrl: node.connectionString });
    await expectRefused(second, 'another_installation', /belongs to another installation/);
  });
});

describe(`an installation on EventStoreDB (${restorableNodes})`, { timeout: RESTORE_TIMEOUT_MS }, () => {
  it('reports that its log is empty', async () => {
    const [node, empty] = [await newNode(), await newNode()];
    const here = site();
    const database = await here.newDatabase();
    const before = await here.start(database, { eventStoreUrl: node.connectionString });
    await before.newTenant();
    await before.close();
    const records = await empty.records();
    const after = await here.start(database, { eventStoreUrl: empty.connectionString });
    await expectRefused(after, 'empty_log', /event log is empty/);
    expect(await empty.records()).toBe(records);
  });

  it('reports that its tables are empty, and derives nothing from the log', async () => {
    const node = await newNode();
    const here = site({ eventStoreUrl: node.connectionString });
    const before = await here.start(await here.newDatabase());
    await before.newTenant();
    await before.close();
    const records = await node.records();
    const after = await here.start(await here.newDatabase());
    await expectRefused(after, 'empty_tables', /tables are empty, but the event log is in use/);
    expect(await node.records()).toBe(records);
  });

  it('reports the number of missing keys when its tables are older than the log', async () => {
    const node = await newNode();
    const here = site({ eventStoreUrl: node.connectionString });
    const database = await here.newDatabase();
    const before = await here.start(database);
    const tenant = await before.newTenant();
    await before.close();
    const older = await here.copyOf(database);
    const later = await here.start(database);
    for (const name of ['a', 'b', 'c'])
      expect(
        (
          await (
            await later.reauthenticated(tenant.token)
          ).post('/api/v1/admin/users', { email: `${name}@acme.example`, displayName: name })
        ).status,
      ).toBe(201);
    await later.close();
    const after = await here.start(older);
    await expectRefused(
      after,
      'keys_missing',
      /keys of 3 persons \(of 1 tenant\) are missing; the tables are older than the event log/,
    );
  });

  it('reports that its tables are older if no key is missing', async () => {
    const node = await newNode();
    const here = site({ eventStoreUrl: node.connectionString });
    const database = await here.newDatabase();
    const before = await here.start(database);
    const tenant = await before.newTenant();
    await before.close();
    const older = await here.copyOf(database);
    const later = await here.start(database);
    expect(
      (await (await later.reauthenticated(tenant.token)).post('/api/v1/admin/groups', { name: 'Later' })).status,
    ).toBe(201);
    await later.close();
    const after = await here.start(older);
    await expectRefused(after, 'tables_older', /tables are older than the event log/);
  });

  it('reports missing keys if digest keys differ from those of the log', async () => {
    const here = site();
    const database = await here.newDatabase();
    const before = await here.start(database);
    await before.services.database.owner.query(`delete from kept_keys where purpose = 'account'`);
    await before.services.database.owner.query('delete from installation');
    await before.close();
    const after = await here.start(database);
    await expectRefused(after, 'keys_missing', /written with other keys than these tables hold \(account\)/);
  });
});
