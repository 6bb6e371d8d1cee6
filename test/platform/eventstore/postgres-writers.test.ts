import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import type { Append } from '../../../src/platform/eventstore/port.ts';
import { PostgresEventStore } from '../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { freshDatabase } from '../../dsl/database.ts';
import { TENANT } from '../../dsl/given.ts';

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
const databases: Database[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await fresh.drop();
});

/** A store as in another process: with its own pools, and its own cache of the log's end. */
function anotherProcess(): PostgresEventStore {
  const database = openDatabase(fresh.config, pino({ level: 'silent' }));
  databases.push(database);
  return new PostgresEventStore(database.store, fresh.config);
}

const metadata = {
  actor: { kind: 'system' as const, id: null },
  correlationId: randomUUID(),
  causationId: randomUUID(),
  commandId: randomUUID(),
};
const appendTo = (stream: string, expectedRevision = -1n, events = 1): Append => ({
  tenantId: TENANT,
  stream: `alert-${TENANT}.${stream}`,
  expectedRevision,
  events: Array.from({ length: events }, () => ({
    id: randomUUID(),
    type: 'AlertRaised',
    version: 1,
    data: '{}',
    metadata,
  })),
  claim: [],
  release: [],
});

it('three processes that write single events and groups leave one log without gaps, in the order of its clock', async () => {
  const stores = [anotherProcess(), anotherProcess(), anotherProcess()];
  const appended: string[] = [];
  const write = async (store: PostgresEventStore, append: Append) => {
    const verdict = await store.append(append);
    if (verdict.kind === 'appended') appended.push(...append.events.map(({ id }) => id));
    return verdict;
  };
  /** All three append at each revision of this stream; the losers continue after the winner. */
  const shared = randomUUID();
  const contend = async (store: PostgresEventStore) => {
    let revision = -1n;
    while (revision < 60n) {
      const verdict = await write(store, appendTo(shared, revision));
      revision =
        verdict.kind === 'appended' ? verdict.revision : verdict.kind === 'wrongRevision' ? verdict.actual : revision;
    }
  };
  const alone = async (store: PostgresEventStore) => {
    for (let n = 0; n < 40; n += 1) await write(store, appendTo(randomUUID()));
  };
  const together = async (store: PostgresEventStore) => {
    for (let n = 0; n < 10; n += 1)
      await Promise.all(Array.from({ length: 8 }, () => write(store, appendTo(randomUUID(), -1n, 2))));
  };
  await Promise.all([contend(stores[0]!), contend(stores[1]!), alone(stores[2]!), contend(stores[2]!)]);
  await Promise.all([alone(stores[0]!), together(stores[1]!), alone(stores[2]!), contend(stores[2]!)]);

  const { events } = await stores[0]!.readAll(0n, 10_000);
  expect(events.map(({ position }) => position)).toEqual(events.map((_, at) => BigInt(at + 1)));
  expect(events.map(({ id }) => id).sort()).toEqual(appended.sort());
  expect(events.map(({ recordedAt }) => recordedAt)).toEqual(
    events.map(({ recordedAt }) => recordedAt).sort((a, b) => a - b),
  );
  const revisions = events.filter(({ stream }) => stream.endsWith(shared)).map(({ revision }) => revision);
  expect(revisions).toEqual(revisions.map((_, at) => BigInt(at)));
  await Promise.all(stores.map((store) => store.close()));
});

it('a process that has cached more of the log than exists leaves no gap', async () => {
  const store = anotherProcess();
  for (let n = 0; n < 3; n += 1) await store.append(appendTo(randomUUID()));
  const before = await store.head();
  // As after a restore from a backup.
  await databases[0]!.owner.query('delete from events where position > $1', [(before - 2n).toString()]);

  const single = await store.append(appendTo(randomUUID()));
  expect(single).toMatchObject({ kind: 'appended', position: before - 1n });

  const other = await anotherProcess().append(appendTo(randomUUID()));
  expect(other).toMatchObject({ kind: 'appended', position: before });
  await databases[0]!.owner.query('delete from events where position > $1', [(before - 2n).toString()]);
  const group = await Promise.all([store.append(appendTo(randomUUID())), store.append(appendTo(randomUUID()))]);
  expect(group).toMatchObject([
    { kind: 'appended', position: before - 1n },
    { kind: 'appended', position: before },
  ]);
});

it('an append without events is checked against its stream like any other', async () => {
  const store = anotherProcess();
  const stream = randomUUID();
  await store.append(appendTo(stream));
  const claim = { tenantId: TENANT, kind: 'bench', digest: randomUUID().replaceAll('-', '').repeat(2) };
  const empty = { ...appendTo(stream, -1n, 0), claim: [claim] };
  expect(await store.append(empty)).toMatchObject({ kind: 'wrongRevision', actual: 0n });
  expect(await Promise.all([store.append(empty), store.append(appendTo(randomUUID()))])).toMatchObject([
    { kind: 'wrongRevision' },
    { kind: 'appended' },
  ]);
  expect(await store.claimHolder(claim)).toBeUndefined();
});
