import { openDatabase } from '../database/database.ts';
import type { Logger } from 'pino';
import { PostgresEventStore } from './postgres/postgres-event-store.ts';
import type { EventStore, FeedAddress } from './port.ts';

/** A log's feed, opened for reading beside the store that gave out its address. */
export interface OpenFeed extends Pick<EventStore, 'readFeed'> {
  close(): Promise<void>;
}

/** Opens the feed that `EventStore.feedAddress` names, on one connection. */
export function openFeed({ database: config }: FeedAddress, log: Logger): OpenFeed {
  const database = openDatabase(config, log, { store: 1 });
  const store = new PostgresEventStore(database.store, config);
  return {
    readFeed: (after, limit, filter) => store.readFeed(after, limit, filter),
    close: async () => {
      await store.close();
      await database.close();
    },
  };
}
