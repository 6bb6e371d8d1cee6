import { z } from 'zod';
import type pg from 'pg';
import { devicePolicyDaily } from '../../../projections/dashboard/device-policy-daily.ts';
import { newSiteVisitors } from '../../../projections/dashboard/new-site-visitors.ts';
import { userQuarters } from '../../../projections/dashboard/user-quarters.ts';
import { passwordUses } from '../../../projections/telemetry/password-uses.ts';
import { viewedKinds } from '../../../projections/telemetry/observations.ts';
import type { License } from '../tenants/domain/license.ts';
import { retentionUnder } from '../settings/domain/retention.ts';
import { maintenanceQuery } from '../../platform/database/time-limits.ts';
import { declareJob, defineJob, type AnyJob } from '../../platform/jobs/job.ts';

const AT_ONCE = 5_000;
/** No client waits for this; one attempt of the job takes at most five minutes. */
const TIME_LIMIT_MS = 120_000;

/** May delete a row that a projection still holds in memory: its key never occurs again. */
const TRIM = `
  delete from observations o using (
    select event_id, device_id, day from observations where tenant_id = $1 and kind = any($2) and occurred_at < $3::timestamptz limit ${AT_ONCE}) old
   where o.tenant_id = $1 and o.event_id = old.event_id and o.device_id = old.device_id and o.day = old.day`;

const TRIM_CHANGES = `
  delete from extension_changes c using (
    select event_id, device_id, day from extension_changes where tenant_id = $1 and occurred_at < $2::timestamptz limit ${AT_ONCE}) old
   where c.tenant_id = $1 and c.event_id = old.event_id and c.device_id = old.device_id and c.day = old.day`;

/** Tables that count per person or device. A late report can bring a trimmed row back; the next trim deletes it. */
const TRIM_COUNTERS = [
  `delete from ${devicePolicyDaily.name} where tenant_id = $1 and day < $2::date`,
  ...[userQuarters, newSiteVisitors, passwordUses].map(
    ({ name }) => `delete from ${name} where tenant_id = $1 and quarter <= $2::timestamptz - interval '15 minutes'`,
  ),
];

interface Kept {
  readonly eventRetentionDays: number;
  readonly streamRetentionDays: number;
}

/**
 * Deletes rows of the event viewer, extension changes and counters per person, after the tenant's retention (choice
 * OP-122). The log has its own retention.
 */
export const observationTrimming = declareJob({
  name: 'trim-observations',
  data: z.object({}),
  attempts: 5,
  backoff: { firstMs: 5_000, longestMs: 300_000 },
});

export const trimObservations = (projector: pg.Pool, set: Kept): AnyJob =>
  defineJob({
    ...observationTrimming,
    handle: async (_data, { signal }) => {
      const { rows: tenants } = await projector.query<{ id: string; license: License | null }>(
        'select id, license from tenants',
      );
      for (const { id, license } of tenants) {
        const { eventRetentionDays } = license ? retentionUnder(license, set) : set;
        const before = new Date(Date.now() - eventRetentionDays * 86_400_000).toISOString();
        for (const [sql, values] of [
          [TRIM, [id, viewedKinds, before]],
          [TRIM_CHANGES, [id, before]],
        ] as const) {
          let trimmed = AT_ONCE;
          while (!signal.aborted && trimmed === AT_ONCE)
            trimmed = (await maintenanceQuery(projector, TIME_LIMIT_MS, sql, values)).rowCount ?? 0;
        }
        for (const sql of TRIM_COUNTERS) await maintenanceQuery(projector, TIME_LIMIT_MS, sql, [id, before]);
      }
    },
  });
