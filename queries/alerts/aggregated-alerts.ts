import { z } from 'zod';
import {
  alertTypeSchema,
  severities,
  severitySchema,
  type AlertType,
  type Severity,
} from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { Page, Paginated, Query } from '../../src/platform/kernel/query.ts';
import { numberedPage } from '../numbered-page.ts';
import type { Interval } from '../settings/interval.ts';

/** Choice OP-083: alerts grouped by type and domain, with the highest severity of the group. */
export const alertAggregateView = z.object({
  alertType: alertTypeSchema,
  domain: z.string().nullable(),
  severity: severitySchema,
  count: z.int(),
  userCount: z.int(),
  /** Neither resolved nor a false positive. */
  openCount: z.int(),
  /** When the first alert was raised. */
  firstSeenAt: z.iso.datetime(),
  /** When the last occurrence was reported. Triage does not change it. */
  lastSeenAt: z.iso.datetime(),
  /** The latest, at most 20. */
  alertIds: z.array(z.uuid()),
});
export type AlertAggregate = z.output<typeof alertAggregateView>;

interface Group {
  alert_type: AlertType;
  domain: string | null;
  gravest: number;
  count: number;
  users: number;
  open: number;
  first_seen: string;
  last_seen: string;
  alert_ids: string[];
}

const GROUPS = `
  select alert_type, domain, min(array_position($4::text[], severity)) as gravest, count(*)::int as count,
         count(distinct user_id)::int as users, (count(*) filter (where status in ('open', 'acknowledged')))::int as open,
         min(created_at) as first_seen, max(last_occurred_at) as last_seen,
         (array_agg(alert_id order by created_at desc, alert_id))[1:20] as alert_ids
    from alerts
   where tenant_id = $1 and ($2::timestamptz is null or created_at >= $2) and ($3::timestamptz is null or created_at <= $3)
   group by alert_type, domain`;
const LIST = { body: GROUPS, order: 'p.last_seen desc, p.alert_type, p.domain' };

/** The groups of the alerts that were raised in the interval. The latest occurrence first. */
export const aggregatedAlerts: Query<Interval & Page, { aggregates: AlertAggregate[] } & Paginated> = async (
  reads,
  { from = null, to = null, ...page },
) => {
  const { rows, ...pages } = await numberedPage<Group>(reads, LIST, [from, to, severities], page);
  return { aggregates: rows.map(aggregateOf), ...pages };
};

const aggregateOf = (group: Group): AlertAggregate => ({
  alertType: group.alert_type,
  domain: group.domain,
  severity: severities[group.gravest - 1] as Severity,
  count: group.count,
  userCount: group.users,
  openCount: group.open,
  firstSeenAt: group.first_seen,
  lastSeenAt: group.last_seen,
  alertIds: group.alert_ids,
});
