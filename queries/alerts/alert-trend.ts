import { z } from 'zod';
import { noFigures, type AlertFigures } from '../../projections/alerts/alert-minutes.ts';
import { timeframes, chartWindowOf, type Timeframe } from '../../src/contexts/alerts/domain/timeframe.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { Query, TenantReads } from '../../src/platform/kernel/query.ts';
import { tenantDays } from '../settings/tenant-days.ts';

/** `from` is inclusive, `to` exclusive: the end of the bucket that is still filling. */
const header = {
  timeframe: z.enum(timeframes),
  interval: z.enum(['hour', 'day']),
  timezone: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
};
type Header = z.output<z.ZodObject<typeof header>>;
const bucket = z.object({ date: z.string(), count: z.int() });
const bySeverity = z.object({
  date: z.string(),
  critical: z.int(),
  high: z.int(),
  medium: z.int(),
  low: z.int(),
  total: z.int(),
});

/** Choice OP-082: empty buckets are included. */
export const alertTrendView = z.object({ ...header, trend: z.array(bucket) });
export const alertTrendBySeverityView = z.object({ ...header, trend: z.array(bySeverity) });

interface TrendInput {
  readonly timeframe: Timeframe;
  /** Epoch milliseconds. */
  readonly now: number;
}
type Sums = Pick<AlertFigures, 'raised' | 'critical' | 'high' | 'medium' | 'low'>;

const SQL = `
  select width_bucket(minute, $2::timestamptz[]) as bucket, sum(raised)::int as raised, sum(critical)::int as critical,
         sum(high)::int as high, sum(medium)::int as medium, sum(low)::int as low
    from alert_minutes where tenant_id = $1 and minute >= $3 and minute < $4
   group by 1`;

async function bucketsOf(
  reads: TenantReads,
  { timeframe, now }: TrendInput,
): Promise<{ head: Header; sums: (Sums & { date: string })[] }> {
  const days = orThrow(await tenantDays(reads, undefined));
  const { interval, buckets, bounds } = chartWindowOf(timeframe, now, days);
  const [from, to] = [bounds[0]!, bounds.at(-1)!];
  const rows = await reads.rows<Sums & { bucket: number }>(SQL, [bounds, from, to]);
  const known = new Map(rows.map((row) => [row.bucket, row]));
  return {
    head: { timeframe, interval, timezone: days.zone, from, to },
    sums: buckets.map((date, index) => ({ ...(known.get(index + 1) ?? noFigures), date })),
  };
}

export const alertTrend: Query<TrendInput, z.output<typeof alertTrendView>> = async (reads, input) => {
  const { head, sums } = await bucketsOf(reads, input);
  return { ...head, trend: sums.map(({ date, raised }) => ({ date, count: raised })) };
};

export const alertTrendBySeverity: Query<TrendInput, z.output<typeof alertTrendBySeverityView>> = async (
  reads,
  input,
) => {
  const { head, sums } = await bucketsOf(reads, input);
  const trend = sums.map(({ date, critical, high, medium, low, raised }) => ({
    date,
    critical,
    high,
    medium,
    low,
    total: raised,
  }));
  return { ...head, trend };
};
