import { openDatabase } from '../database/database.ts';
import type { Logger } from 'pino';
import { PostgresEventStore } from './postgres/postgres-event-store.ts';
import type { EventStore, LogAddress } from './port.ts';

/** A log's feed, opened for reading beside the store that gave out its address. */
export interface OpenLog extends Pick<EventStore, 'readAll'> {
  close(): Promise<void>;
}

/** Opens the feed that `EventStore.logAddress` names, on one connection. */
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
