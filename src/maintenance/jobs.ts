import { z } from 'zod';
import type { AnyJob } from '../jobs/job.ts';
import { defineJob } from '../jobs/job.ts';
import type { Schedule } from '../jobs/jobs.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { Database } from '../database/database.ts';
import type { Config } from '../config.ts';
import { trimObservations } from './trim-observations.ts';

const TRIMMED_AT_ONCE = 5_000;
const HOUR = 3_600_000;

const nothing = z.object({});
const backoff = { firstMs: 5_000, longestMs: 300_000 };

/** What the house does for itself, once in the whole installation however many processes it has. */
export const maintenanceJobs = (
  store: EventStore,
  { service, projector }: Pick<Database, 'service' | 'projector'>,
  config: Config,
): AnyJob[] => [
  trimObservations(projector, config),
  defineJob({
    name: 'trim-telemetry',
    data: nothing,
    attempts: 5,
    backoff,
    handle: async (_data, { signal }) => {
      while (!signal.aborted && (await store.trimExpired(TRIMMED_AT_ONCE)) === TRIMMED_AT_ONCE);
    },
  }),
  defineJob({
    name: 'sweep-claims',
    data: nothing,
    attempts: 5,
    backoff,
    handle: () => store.sweepClaims().then(() => undefined),
  }),
  defineJob({
    name: 'sweep-expired-tokens',
    data: nothing,
    attempts: 5,
    backoff,
    handle: () => service.ofNobody('select sweep_expired_tokens()').then(() => undefined),
  }),
];

export const maintenanceSchedules: Readonly<Record<string, Schedule>> = {
  'maintenance/trim-observations': { job: 'trim-observations', data: {}, recurrence: { everyMs: HOUR } },
  'maintenance/trim-telemetry': { job: 'trim-telemetry', data: {}, recurrence: { everyMs: HOUR } },
  'maintenance/sweep-screenshots': { job: 'sweep-screenshots', data: {}, recurrence: { everyMs: 6 * HOUR } },
  'maintenance/sweep-claims': { job: 'sweep-claims', data: {}, recurrence: { everyMs: HOUR } },
  'maintenance/alert-stale-devices': { job: 'alert-stale-devices', data: {}, recurrence: { everyMs: HOUR / 4 } },
  'maintenance/sweep-expired-tokens': { job: 'sweep-expired-tokens', data: {}, recurrence: { everyMs: HOUR } },
};
