import type pg from 'pg';
import { z } from 'zod';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import { declareJob, defineJob, type AnyJob } from '../../platform/jobs/job.ts';
import { asTenantId } from '../../platform/kernel/ids.ts';
import { offboardPerson, type Offboarding } from './offboard-person.ts';
import { offboardingSteps } from './domain/offboarding.ts';

const AT_ONCE = 200;
const TIME_LIMIT_MS = 30_000;

/** Those whose time of grace is over, and those whose job was lost with a queue. */
const DUE = `
  select tenant_id, user_id, offboarding_id from offboardings
   where state = 'running'
     and (certificates_end_at <= now()
          or (jsonb_array_length(steps) < ${offboardingSteps.length - 1} and started_at < now() - interval '1 minute'))
   order by certificates_end_at limit ${AT_ONCE}`;

/** Runs each minute. */
export const offboardingResumption = declareJob({
  name: 'resume-offboardings',
  data: z.object({}),
  attempts: 2,
  backoff: { firstMs: 5_000, longestMs: 30_000 },
});

interface Due {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly offboarding_id: string;
}

export const resumeOffboardings = (projector: pg.Pool, parts: Offboarding): AnyJob =>
  defineJob({
    ...offboardingResumption,
    handle: async (_data, { signal }) => {
      const { rows } = await maintenanceQuery<Due>(projector, TIME_LIMIT_MS, DUE);
      const failures: unknown[] = [];
      for (const { tenant_id, user_id, offboarding_id } of rows) {
        if (signal.aborted) return;
        // One person who cannot be offboarded must not keep the others.
        await offboardPerson(parts, asTenantId(tenant_id), user_id, offboarding_id).catch((error) =>
          failures.push(error),
        );
      }
      if (failures.length > 0) throw failures[0];
    },
  });
