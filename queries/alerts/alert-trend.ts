import { z } from 'zod';
import { noFigures, type AlertFigures } from '../../projections/alerts/alert-hours.ts';
import {
  timeframes,
  chartWindowOf,
  type Timeframe,
  type ChartWindow,
} from '../../src/contexts/alerts/domain/timeframe.ts';
import type { Query, TenantReads } from '../../src/platform/kernel/query.ts';

const header = { timeframe: z.enum(timeframes), interval: z.enum(['hour', 'day']) };
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
  select to_char(hour at time zone 'UTC', $3) as bucket, sum(raised)::int as raised, sum(critical)::int as critical,
         sum(high)::int as high, sum(medium)::int as medium, sum(low)::int as low
    from alert_hours where tenant_id = $1 and hour >= $2
   group by 1`;
const FORMATS = { hour: 'YYYY-MM-DD"T"HH24":00:00.000Z"', day: 'YYYY-MM-DD' } as const;

async function bucketsOf(
  reads: TenantReads,
  { timeframe, now }: TrendInput,
): Promise<{ window: ChartWindow; sums: (Sums & { date: string })[] }> {
  const window = chartWindowOf(timeframe, now);
  const rows = await reads.rows<Sums & { bucket: string }>(SQL, [window.from, FORMATS[window.interval]]);
  const known = new Map(rows.map((row) => [row.bucket, row]));
  return { window, sums: window.buckets.map((date) => ({ ...(known.get(date) ?? noFigures), date })) };
}

export const alertTrend: Query<TrendInput, z.output<typeof alertTrendView>> = async (reads, input) => {
  const { window, sums } = await bucketsOf(reads, input);
  return {
    timeframe: input.timeframe,
    interval: window.interval,
    trend: sums.map(({ date, raised }) => ({ date, count: raised })),
  };
};

export const alertTrendBySeverity: Query<TrendInput, z.output<typeof alertTrendBySeverityView>> = async (
  reads,
  input,
) => {
  const { window, sums } = await bucketsOf(reads, input);
  const trend = sums.map(({ date, critical, high, medium, low, raised }) => ({
    date,
    critical,
    high,
    medium,
    low,
    total: raised,
  }));
  return { timeframe: input.timeframe, interval: window.interval, trend };
};
