import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import { PostgresEventStore } from './postgres/postgres-event-store.ts';
import type { EventStore } from './port.ts';

/**
 * Opens the configured store: EventStoreDB if EVENTSTORE_URL is set, PostgreSQL otherwise. `alone`: no other process
 * follows it.
 */
export async function openEventStore(
  { eventStoreUrl }: { readonly eventStoreUrl: string | undefined },
  database: Database,
  log: Logger,
  alone: boolean,
): Promise<EventStore> {
  if (!eventStoreUrl)
    return new PostgresEventStore(database.store, database.config, alone ? undefined : database.projector);
  const { EventStoreDbEventStore } = await import('./eventstoredb/eventstoredb-event-store.ts');
  const store = new EventStoreDbEventStore(eventStoreUrl, {
    warn: (message) => log.warn({ module: 'eventstoredb' }, message),
  });
  try {
    await store.meet();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
