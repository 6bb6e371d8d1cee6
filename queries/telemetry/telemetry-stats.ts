import { z } from 'zod';
import type { TelemetryQuarterRow } from '../../projections/telemetry/telemetry-quarters.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { QUARTER_MS } from '../../src/platform/time-zones/zoned-days.ts';
import { bucketsOfDays } from '../dashboard/days.ts';
import type { Interval } from '../settings/interval.ts';
import { tenantDays } from '../settings/tenant-days.ts';

/** Choice OP-164. */
export const telemetryStatsView = z.object({
  /** The counted interval: the requested one, widened to whole quarters of an hour. Both ends inclusive. */
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
  timezone: z.string(),
  total: z.int(),
  navigation: z.int(),
  credentialAttempts: z.int(),
  authFlow: z.int(),
  extension: z.int(),
  byDay: z.array(z.object({ date: z.iso.date(), count: z.int() })),
});
export type TelemetryStats = z.output<typeof telemetryStatsView>;

const IN_INTERVAL = `tenant_id = $1 and ($2::timestamptz is null or quarter >= $2) and ($3::timestamptz is null or quarter <= $3)`;
const TOTALS = `
  select coalesce(sum(total), 0)::int as total, coalesce(sum(navigation), 0)::int as navigation,
         coalesce(sum(credential_attempts), 0)::int as credential_attempts, coalesce(sum(auth_flow), 0)::int as auth_flow,
         coalesce(sum(extension), 0)::int as extension, min(quarter) as first, max(quarter) as last
    from telemetry_quarters where ${IN_INTERVAL}`;
const BY_DAY = `
  select width_bucket(quarter, $4::timestamptz[]) as bucket, sum(total)::int as count
    from telemetry_quarters where ${IN_INTERVAL} group by 1 order by 1`;

type Totals = Omit<TelemetryQuarterRow, 'quarter'> & { readonly first: string | null; readonly last: string | null };

/**
 * Observations by the time at which they occurred, counted on arrival. Days without any are left out. Deletions and
 * retention remove rows of the event viewer, not from these figures.
 */
export const telemetryStats: Query<Interval, TelemetryStats> = async (reads, asked) => {
  const { from, to } = inQuarters(asked);
  const days = orThrow(await tenantDays(reads, undefined));
  const totals = (await reads.figures<Totals>(TOTALS, [from, to]))!;
  const { first, last } = totals;
  const range = first && last && { from: days.dayOf(Date.parse(first)), to: days.dayOf(Date.parse(last)), zone: days };
  const { buckets, bounds } = range ? bucketsOfDays(range) : { buckets: [], bounds: [] };
  const counts = range ? await reads.rows<{ bucket: number; count: number }>(BY_DAY, [from, to, bounds]) : [];
  return {
    from,
    to,
    timezone: days.zone,
    total: totals.total,
    navigation: totals.navigation,
    credentialAttempts: totals.credential_attempts,
    authFlow: totals.auth_flow,
    extension: totals.extension,
    byDay: counts.map(({ bucket, count }) => ({ date: buckets[bucket - 1]!, count })),
  };
};

function inQuarters({ from, to }: Interval): { from: string | null; to: string | null } {
  const whole = (round: (quarters: number) => number, epochMs: number) => round(epochMs / QUARTER_MS) * QUARTER_MS;
  const iso = (epochMs: number) => new Date(epochMs).toISOString();
  return {
    from: from ? iso(whole(Math.floor, Date.parse(from))) : null,
    to: to ? iso(whole(Math.ceil, Date.parse(to) + 1) - 1) : null,
  };
}
