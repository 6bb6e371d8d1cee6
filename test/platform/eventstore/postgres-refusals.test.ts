import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import { AppendRefused, EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import { PostgresEventStore } from '../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { newAppend, newEvent, newTenant } from '../../contracts/event-store/sample.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';

describe('PostgreSQL store: refusals', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let store: PostgresEventStore;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = openDatabase(fresh.config, pino({ level: 'silent' }));
    store = new PostgresEventStore(database.store, fresh.config, database.projector);
  });
  afterAll(async () => {
    await store.close();
    await database.close();
    await fresh.drop();
  });

  it('fails for good for a value that no column can store, alone or beside appends that succeed', async () => {
    const broken = () => newAppend(newTenant(), { events: [newEvent({ type: 'With\u0000Nul' })] });
    await expect(store.append(broken())).rejects.toBeInstanceOf(AppendRefused);
    const outcomes = await Promise.allSettled([
      store.append(newAppend(newTenant())),
      store.append(broken()),
      store.append(newAppend(newTenant())),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(AppendRefused);
  });

  it('does not count a lost connection as a refusal: the outcome is unknown', async () => {
    const away = openDatabase({ ...fresh.config, port: 1 }, pino({ level: 'silent' }));
    const unreachable = new PostgresEventStore(away.store, fresh.config, away.projector);
    await expect(unreachable.append(newAppend(newTenant()))).rejects.toBeInstanceOf(EventStoreUnavailable);
    await unreachable.close();
    await away.close();
  });
});
