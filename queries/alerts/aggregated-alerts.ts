import { z } from 'zod';
import {
  alertTypeSchema,
  severities,
  severitySchema,
  type AlertType,
  type Severity,
} from '../../src/contexts/alerts/domain/vocabulary.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Choice OP-083: alerts grouped by type and domain, with the highest severity of the group. */
export const alertAggregateView = z.object({
  alertType: alertTypeSchema,
  domain: z.string().nullable(),
  severity: severitySchema,
  count: z.int(),
  userCount: z.int(),
  /** Neither resolved nor a false positive. */
  openCount: z.int(),
  firstSeenAt: z.iso.datetime(),
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

const MAX_GROUPS = 500;
const SQL = `
  select alert_type, domain, min(array_position($4::text[], severity)) as gravest, count(*)::int as count,
         count(distinct user_id)::int as users, (count(*) filter (where status in ('open', 'acknowledged')))::int as open,
         min(created_at) as first_seen, max(updated_at) as last_seen,
         (array_agg(alert_id order by created_at desc, alert_id))[1:20] as alert_ids
    from alerts
   where tenant_id = $1 and ($2::timestamptz is null or created_at >= $2) and ($3::timestamptz is null or created_at <= $3)
   group by alert_type, domain
   order by last_seen desc, alert_type, domain limit ${MAX_GROUPS}`;

export const aggregatedAlerts: Query<
  { from?: string | undefined; to?: string | undefined },
  { aggregates: AlertAggregate[]; total: number }
> = async (reads, { from, to }) => {
  const groups = await reads.rows<Group>(SQL, [from ?? null, to ?? null, severities]);
  const aggregates = groups.map((group): AlertAggregate => ({
    alertType: group.alert_type,
    domain: group.domain,
    severity: severities[group.gravest - 1] as Severity,
    count: group.count,
    userCount: group.users,
    openCount: group.open,
    firstSeenAt: group.first_seen,
    lastSeenAt: group.last_seen,
    alertIds: group.alert_ids,
  }));
  return { aggregates, total: aggregates.length };
};
