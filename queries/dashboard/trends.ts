import { z } from 'zod';
import type { TelemetryDailyRow } from '../../projections/telemetry/telemetry-daily.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { eachDay, type Days } from './days.ts';

/** Choice OP-244. */
export const trendView = z.object({
  date: z.iso.date(),
  alerts: z.int(),
  warnings: z.int(),
  blocks: z.int(),
  credentialAttempts: z.int(),
  newSites: z.int(),
});
export type TrendPoint = z.output<typeof trendView>;

const TELEMETRY = 'select * from telemetry_daily where tenant_id = $1 and day between $2::date and $3::date';
const ALERTS =
  'select day, sum(raised)::int as alerts from alert_daily where tenant_id = $1 and day between $2::date and $3::date group by day';

/** Daily figures; days without events are included with zeros. */
export const trends: Query<Days, { trend: TrendPoint[] }> = async (reads, days) => {
  const range = [days.from, days.to];
  const [telemetry, alerts] = await Promise.all([
    reads.rows<TelemetryDailyRow>(TELEMETRY, range),
    reads.rows<{ day: string; alerts: number }>(ALERTS, range),
  ]);
  const seen = new Map(telemetry.map((row) => [row.day, row]));
  const raised = new Map(alerts.map((row) => [row.day, row.alerts]));
  const point = (date: string): TrendPoint => {
    const row = seen.get(date);
    const counters = {
      warnings: row?.warnings ?? 0,
      blocks: row?.blocks ?? 0,
      credentialAttempts: row?.credential_attempts ?? 0,
      newSites: row?.new_sites ?? 0,
    };
    return { date, alerts: raised.get(date) ?? 0, ...counters };
  };
  return { trend: eachDay(days).map(point) };
};

/** Choice OP-244: visits to sites that were new to the visitor. */
export const newSitesTrend: Query<Days, { trend: { date: string; count: number }[] }> = async (reads, days) => {
  const rows = await reads.rows<TelemetryDailyRow>(TELEMETRY, [days.from, days.to]);
  const seen = new Map(rows.map((row) => [row.day, row.new_sites]));
  return { trend: eachDay(days).map((date) => ({ date, count: seen.get(date) ?? 0 })) };
};
