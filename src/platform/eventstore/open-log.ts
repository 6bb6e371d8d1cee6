import { openDatabase } from '../database/database.ts';
import type { Logger } from 'pino';
import { PostgresEventStore } from './postgres/postgres-event-store.ts';
import type { EventStore, LogAddress } from './port.ts';

/** The `$all` stream of a log, opened for reading with an address from its store. */
export interface OpenLog extends Pick<EventStore, 'readAll'> {
  close(): Promise<void>;
}

/** Opens the log at `EventStore.logAddress` with one connection. */
export function openLog({ database: config }: LogAddress, log: Logger): OpenLog {
  const database = openDatabase(config, log, { store: 1 });
  const store = new PostgresEventStore(database.store, config);
  return {
    readAll: (after, limit, filter) => store.readAll(after, limit, filter),
    close: async () => {
      await store.close();
      await database.close();
    },
  };
}
