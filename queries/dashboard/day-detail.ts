import { z } from 'zod';
import type { AlertFigures } from '../../projections/alerts/alert-minutes.ts';
import { severities, type AlertType } from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { Page, Query } from '../../src/platform/kernel/query.ts';
import type { ZonedDays } from '../../src/platform/time-zones/zoned-days.ts';
import { momentsOf } from './days.ts';

const counters = z.record(z.string(), z.int());

/** Choice OP-246. */
export const dayDetailView = z.object({
  date: z.iso.date(),
  /** By the current severity, as in the list of alerts. */
  alerts: z.object({ total: z.int(), bySeverity: counters, byType: counters }),
  credentialAttempts: z.int(),
  warnings: z.int(),
  blocks: z.int(),
  newSites: z
    .array(z.object({ domain: z.string(), userCount: z.int() }))
    .describe('The requested page of the hosts that were new to somebody'),
  newSitesTotal: z
    .int()
    .describe('All hosts that were new to somebody, however many people; `trends` counts the visits'),
  activeUsers: z.int(),
});
export type DayDetail = z.output<typeof dayDetailView>;

const IN_DAY = 'tenant_id = $1 and quarter >= $2 and quarter < $3';
const TELEMETRY = `
  select coalesce(sum(credential_attempts), 0)::int as "credentialAttempts", coalesce(sum(warnings), 0)::int as warnings,
         coalesce(sum(blocks), 0)::int as blocks
    from telemetry_quarters where ${IN_DAY}`;
const SEVERITIES = `
  select ${['raised', ...severities].map((name) => `coalesce(sum(${name}), 0)::int as ${name}`).join(', ')}
    from alert_minutes where tenant_id = $1 and minute >= $2 and minute < $3`;
const TYPES = `select alert_type, sum(raised)::int as raised from alert_types where ${IN_DAY} group by 1`;
const NEW_SITES = `
  select domain, count(distinct user_id)::int as "userCount" from new_site_visitors
   where ${IN_DAY} group by domain order by 2 desc, 1 limit $4 offset $5`;
const ALL_NEW_SITES = `select count(distinct domain)::int as count from new_site_visitors where ${IN_DAY}`;
const ACTIVE = `select count(distinct user_id)::int as count from user_quarters where ${IN_DAY}`;

export const dayDetail: Query<{ date: string; zone: ZonedDays } & Page, DayDetail> = async (
  reads,
  { date, zone, page, pageSize },
) => {
  const { from, until } = momentsOf({ from: date, to: date, zone });
  const [telemetry, alerts, types, newSites, allNewSites, active] = await Promise.all([
    reads.figures<Pick<DayDetail, 'credentialAttempts' | 'warnings' | 'blocks'>>(TELEMETRY, [from, until]),
    reads.figures<AlertFigures>(SEVERITIES, [from, until]),
    reads.rows<{ alert_type: AlertType; raised: number }>(TYPES, [from, until]),
    reads.rows<DayDetail['newSites'][number]>(NEW_SITES, [from, until, pageSize, (page - 1) * pageSize]),
    reads.figures<{ count: number }>(ALL_NEW_SITES, [from, until]),
    reads.figures<{ count: number }>(ACTIVE, [from, until]),
  ]);
  const bySeverity = severities.map((name) => [name, alerts![name]] as const).filter(([, count]) => count > 0);
  return {
    date,
    alerts: {
      total: alerts!.raised,
      bySeverity: Object.fromEntries(bySeverity),
      byType: Object.fromEntries(types.map(({ alert_type, raised }) => [alert_type, raised])),
    },
    ...telemetry!,
    newSites,
    newSitesTotal: allNewSites!.count,
    activeUsers: active!.count,
  };
};
