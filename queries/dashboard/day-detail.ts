import { z } from 'zod';
import type { AlertDailyRow } from '../../projections/dashboard/alert-daily.ts';
import type { TelemetryDailyRow } from '../../projections/telemetry/telemetry-daily.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

const counters = z.record(z.string(), z.int());

/** Choice OP-246. */
export const dayDetailView = z.object({
  date: z.iso.date(),
  alerts: z.object({ total: z.int(), bySeverity: counters, byType: counters }),
  credentialAttempts: z.int(),
  warnings: z.int(),
  blocks: z.int(),
  newSites: z.array(z.object({ domain: z.string(), userCount: z.int() })),
  activeUsers: z.int(),
});
export type DayDetail = z.output<typeof dayDetailView>;

const MAX_SITES = 100;
const TELEMETRY = 'select * from telemetry_daily where tenant_id = $1 and day = $2::date';
const ALERTS = 'select * from alert_daily where tenant_id = $1 and day = $2::date';
const NEW_SITES = `
  select domain, count(*)::int as "userCount" from new_site_visitors
   where tenant_id = $1 and day = $2::date group by domain order by 2 desc, 1 limit ${MAX_SITES}`;
const ACTIVE = 'select count(*)::int as count from user_daily where tenant_id = $1 and day = $2::date';

export const dayDetail: Query<{ date: string }, DayDetail> = async (reads, { date }) => {
  const [telemetry, alerts, newSites, active] = await Promise.all([
    reads.one<TelemetryDailyRow>(TELEMETRY, [date]),
    reads.rows<AlertDailyRow>(ALERTS, [date]),
    reads.rows<DayDetail['newSites'][number]>(NEW_SITES, [date]),
    reads.figures<{ count: number }>(ACTIVE, [date]),
  ]);
  const summed = (by: 'severity' | 'alert_type') => {
    const sums: Record<string, number> = {};
    for (const row of alerts) sums[row[by]] = (sums[row[by]] ?? 0) + row.raised;
    return sums;
  };
  return {
    date,
    alerts: {
      total: alerts.reduce((sum, { raised }) => sum + raised, 0),
      bySeverity: summed('severity'),
      byType: summed('alert_type'),
    },
    credentialAttempts: telemetry?.credential_attempts ?? 0,
    warnings: telemetry?.warnings ?? 0,
    blocks: telemetry?.blocks ?? 0,
    newSites,
    activeUsers: active!.count,
  };
};
