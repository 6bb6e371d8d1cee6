import { pino } from 'pino';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { PostgresEventStore } from '../../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { describeEventStoreContract } from '../../contracts/event-store.contract.ts';
import { freshDatabase } from '../../dsl/database.ts';

describeEventStoreContract('PostgreSQL', async () => {
  const fresh = await freshDatabase();
  const log = pino({ level: 'silent' });
  const databases = [openDatabase(fresh.config, log)];
  const store = new PostgresEventStore(databases[0]!.store, fresh.config, databases[0]!.projector);
  return {
    store,
    reopen: async () => {
      const other = openDatabase(fresh.config, log);
      databases.push(other);
      return new PostgresEventStore(other.store, fresh.config, other.projector);
    },
    close: async () => {
      await store.close();
      await Promise.all(databases.map((database) => database.close()));
      await fresh.drop();
    },
  };
});
