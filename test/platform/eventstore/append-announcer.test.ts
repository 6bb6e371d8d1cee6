import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import { PostgresEventStore } from '../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { freshDatabase } from '../../dsl/database.ts';
import { TENANT } from '../../dsl/given.ts';

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let elsewhere: pg.Client;
const heard: number[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openDatabase(fresh.config, pino({ level: 'silent' }));
  elsewhere = new pg.Client(fresh.config);
  await elsewhere.connect();
  elsewhere.on('notification', ({ payload }) => heard.push(Number(payload)));
  await elsewhere.query('listen castellan_feed');
});
afterAll(async () => {
  await elsewhere.end();
  await database.close();
  await fresh.drop();
});

const append = (store: PostgresEventStore) => {
  const metadata = {
    actor: { kind: 'system' as const, id: null },
    correlationId: randomUUID(),
    causationId: randomUUID(),
    commandId: randomUUID(),
  };
  const event = { id: randomUUID(), type: 'AlertRaised', version: 1, data: '{}', metadata };
  return store.append({
    tenantId: TENANT,
    stream: `alert-${TENANT}.${randomUUID()}`,
    expectedRevision: -1n,
    events: [event],
    claim: [],
    release: [],
  });
};

it('announces growth to other processes: at once, in order, and the rest before it closes', async () => {
  const store = new PostgresEventStore(database.store, fresh.config, database.projector);
  await append(store);
  await vi.waitFor(() => expect(heard).toEqual([1]));

  for (let n = 0; n < 100; n += 1) await append(store);
  await vi.waitFor(() => expect(heard.at(-1)).toBe(101));
  expect(heard).toEqual(heard.toSorted((a, b) => a - b));

  await append(store);
  await append(store);
  await store.close();
  await vi.waitFor(() => expect(heard.at(-1)).toBe(103));
});
