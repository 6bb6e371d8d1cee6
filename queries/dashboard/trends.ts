import { z } from 'zod';
import type { TelemetryQuarterRow } from '../../projections/telemetry/telemetry-quarters.ts';
import type { Query, TenantReads } from '../../src/platform/kernel/query.ts';
import { bucketsOfDays, type Days } from './days.ts';

/** Choice OP-244. */
export const trendView = z.object({
  date: z.iso.date(),
  alerts: z.int(),
  warnings: z.int(),
  blocks: z.int(),
  credentialAttempts: z.int(),
  newSites: z.int().describe('Visits of people to hosts that were new to them; `day-detail` counts the hosts'),
});
export type TrendPoint = z.output<typeof trendView>;

const COUNTERS = ['warnings', 'blocks', 'credential_attempts', 'new_sites'] as const;
type Counters = Pick<TelemetryQuarterRow, (typeof COUNTERS)[number]>;
const NOTHING: Counters = { warnings: 0, blocks: 0, credential_attempts: 0, new_sites: 0 };

const TELEMETRY = `
  select width_bucket(quarter, $2::timestamptz[]) as bucket, ${COUNTERS.map((name) => `sum(${name})::int as ${name}`).join(', ')}
    from telemetry_quarters where tenant_id = $1 and quarter >= $3 and quarter < $4 group by 1`;
const ALERTS = `
  select width_bucket(minute, $2::timestamptz[]) as bucket, sum(raised)::int as alerts
    from alert_minutes where tenant_id = $1 and minute >= $3 and minute < $4 group by 1`;

async function byDay<Sums extends object>(
  reads: TenantReads,
  { buckets, bounds }: ReturnType<typeof bucketsOfDays>,
  sql: string,
): Promise<Map<string, Sums>> {
  const rows = await reads.rows<Sums & { bucket: number }>(sql, [bounds, bounds[0], bounds.at(-1)]);
  return new Map(rows.map((row) => [buckets[row.bucket - 1]!, row]));
}

/** Daily figures; days without events are included with zeros. */
export const trends: Query<Days, { trend: TrendPoint[] }> = async (reads, days) => {
  const chart = bucketsOfDays(days);
  const [seen, raised] = await Promise.all([
    byDay<Counters>(reads, chart, TELEMETRY),
    byDay<{ alerts: number }>(reads, chart, ALERTS),
  ]);
  const point = (date: string): TrendPoint => {
    const { warnings, blocks, credential_attempts: credentialAttempts, new_sites } = seen.get(date) ?? NOTHING;
    return { date, alerts: raised.get(date)?.alerts ?? 0, warnings, blocks, credentialAttempts, newSites: new_sites };
  };
  return { trend: chart.buckets.map(point) };
};

/** Choice OP-244: visits to sites that were new to the visitor. */
export const newSitesTrend: Query<Days, { trend: { date: string; count: number }[] }> = async (reads, days) => {
  const chart = bucketsOfDays(days);
  const seen = await byDay<Counters>(reads, chart, TELEMETRY);
  return { trend: chart.buckets.map((date) => ({ date, count: seen.get(date)?.new_sites ?? 0 })) };
};
