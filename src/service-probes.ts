import type { Redis } from 'ioredis';
import type { Database } from './database/database.ts';
import type { EventStore } from './eventstore/port.ts';
import type { Probe } from './health.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Projector } from './projector/projector.ts';

/** What `/health` asks (choice OP-253): without database or event store nothing works; the rest only degrades. */
export const serviceProbes = (store: EventStore, database: Database, projector: Projector, jobs: Jobs, redis: Redis | undefined): Probe[] => [
  { name: 'postgres', critical: true, check: () => database.service.ofNobody('select 1').then(() => undefined) },
  { name: 'eventstore', critical: true, check: () => store.ping().then(() => undefined) },
  {
    name: 'redis',
    critical: false,
    // The broker for jobs and limits: Redis where there is one, the jobs' own tables where there is none.
    check: () => (redis ? redis.ping() : jobs.counts()).then(() => undefined),
  },
  { name: 'projections', critical: false, check: () => projector.impairment() },
];
