import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { EventStore } from '../../platform/eventstore/port.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../platform/jobs/job.ts';
import { asTenantId, uuid } from '../../platform/kernel/ids.ts';

/** Longer than a revoked device may still be accepted (1.5 s, on a node that cannot follow the log). */
const LATE_REPORTS_MS = 5_000;

/** Removes the hosts that an erased person visited from the log. Idempotent. */
export const telemetryForgetting = declareJob({
  name: 'forget-telemetry',
  data: z.object({ tenantId: uuid(), userId: uuid() }),
  attempts: 12,
  backoff: { firstMs: 5_000, longestMs: 3_600_000 },
});

export const forgetTelemetry = (store: Pick<EventStore, 'forgetTelemetryOf'>): AnyJob =>
  defineJob({
    ...telemetryForgetting,
    handle: async ({ tenantId, userId }, { signal }) => {
      try {
        await store.forgetTelemetryOf(asTenantId(tenantId), userId);
        await sleep(LATE_REPORTS_MS, undefined, { signal });
        await store.forgetTelemetryOf(asTenantId(tenantId), userId);
      } catch (error) {
        throw new JobFailed('the telemetry was not anonymized', { cause: error });
      }
    },
  });
