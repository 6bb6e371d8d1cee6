import { z } from 'zod';
import type { AnyJob } from '../../platform/jobs/job.ts';
import { declareJob, defineJob } from '../../platform/jobs/job.ts';
import type { Schedule } from '../../platform/jobs/jobs.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Config } from '../config/config.ts';
import { enqueue } from '../../platform/kernel/job.ts';
import { screenshotSweeping } from '../../contexts/screenshots/sweep-screenshots.ts';
import { dueDeliveries } from '../../contexts/notifications/jobs.ts';
import { duePages } from '../../contexts/on-call/escalate-pages.ts';
import { dueDirectories } from '../../contexts/directory-sources/sync-jobs.ts';
import { offboardingResumption } from '../../contexts/employees/resume-offboardings.ts';
import { rolloutWatching } from '../../contexts/extension-rollouts/watch-rollouts.ts';
import { staleDeviceAlerting } from '../../contexts/devices/alert-stale-devices.ts';
import { automaticDownloading, updateSettling } from '../../contexts/updates/update-jobs.ts';
import { observationTrimming, trimObservations } from '../../contexts/telemetry/trim-observations.ts';

const TRIMMED_AT_ONCE = 5_000;
const HOUR = 3_600_000;

const nothing = z.object({});
const backoff = { firstMs: 5_000, longestMs: 300_000 };

const telemetryTrimming = declareJob({ name: 'trim-telemetry', data: nothing, attempts: 5, backoff });
const claimSweeping = declareJob({ name: 'sweep-claims', data: nothing, attempts: 5, backoff });
const tokenSweeping = declareJob({ name: 'sweep-expired-tokens', data: nothing, attempts: 5, backoff });

/** Maintenance jobs. They run once for the installation, however many processes it has. */
export const maintenanceJobs = (
  store: EventStore,
  { service, projector }: Pick<Database, 'service' | 'projector'>,
  config: Config,
): AnyJob[] => [
  trimObservations(projector, config),
  defineJob({
    ...telemetryTrimming,
    handle: async (_data, { signal }) => {
      while (!signal.aborted && (await store.trimExpired(TRIMMED_AT_ONCE)) === TRIMMED_AT_ONCE);
    },
  }),
  defineJob({
    ...claimSweeping,
    handle: () => store.sweepClaims().then(() => undefined),
  }),
  defineJob({
    ...tokenSweeping,
    handle: () => service.asSystem('select sweep_expired_tokens()').then(() => undefined),
  }),
];

export const maintenanceSchedules: Readonly<Record<string, Schedule>> = {
  'maintenance/trim-observations': { run: enqueue(observationTrimming, {}), recurrence: { everyMs: HOUR } },
  'maintenance/trim-telemetry': { run: enqueue(telemetryTrimming, {}), recurrence: { everyMs: HOUR } },
  'maintenance/sweep-screenshots': { run: enqueue(screenshotSweeping, {}), recurrence: { everyMs: 6 * HOUR } },
  'maintenance/sweep-claims': { run: enqueue(claimSweeping, {}), recurrence: { everyMs: HOUR } },
  'maintenance/alert-stale-devices': { run: enqueue(staleDeviceAlerting, {}), recurrence: { everyMs: HOUR / 4 } },
  'notifications/sweep-deliveries': { run: enqueue(dueDeliveries, {}), recurrence: { everyMs: 20_000 } },
  'on-call/escalate-pages': { run: enqueue(duePages, {}), recurrence: { everyMs: 20_000 } },
  'directories/sync-due': { run: enqueue(dueDirectories, {}), recurrence: { everyMs: 60_000 } },
  'maintenance/resume-offboardings': { run: enqueue(offboardingResumption, {}), recurrence: { everyMs: HOUR / 60 } },
  'maintenance/settle-updates': { run: enqueue(updateSettling, {}), recurrence: { everyMs: HOUR / 60 } },
  'maintenance/download-updates': { run: enqueue(automaticDownloading, {}), recurrence: { everyMs: HOUR } },
  'extension-rollouts/watch': { run: enqueue(rolloutWatching, {}), recurrence: { everyMs: HOUR / 60 } },
  'maintenance/sweep-expired-tokens': { run: enqueue(tokenSweeping, {}), recurrence: { everyMs: HOUR } },
};
