import type { Database } from './database/database.ts';
import type { EventStore } from './eventstore/port.ts';
import type { Probe } from './health.ts';
import type { Projector } from './projector/projector.ts';

/** What `/health` asks (choice OP-253): without database or event store nothing works; the rest only degrades. */
export const serviceProbes = (store: EventStore, database: Database, projector: Projector): Probe[] => [
  { name: 'postgres', critical: true, check: () => database.service.query('select 1').then(() => undefined) },
  { name: 'eventstore', critical: true, check: () => store.ping().then(() => undefined) },
  { name: 'projections', critical: false, check: () => projector.impairment() },
];
