import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Page, Paginated, Query } from '../../src/platform/kernel/query.ts';
import { numberedPage } from '../numbered-page.ts';
import { toAlertView, SELECT_ALERTS, type AlertView, type AlertWithNames } from './alert-view.ts';

/** Alerts with the same user, domain or device within seven days before or after (choice OP-080). */
const RELATED = `
  select a.alert_id, a.created_at, array_remove(array[
      case when a.user_id = c.user_id then 'user' end,
      case when a.domain = c.domain then 'domain' end,
      case when a.device_id = c.device_id then 'device' end], null) as reasons
    from alerts c join alerts a on a.tenant_id = c.tenant_id
   where a.tenant_id = $1 and c.tenant_id = $1 and c.alert_id = $2 and a.alert_id <> c.alert_id
     and (a.user_id = c.user_id or a.domain = c.domain or a.device_id = c.device_id)
     and a.created_at between c.created_at - interval '7 days' and c.created_at + interval '7 days'`;
const ALERTS = `${SELECT_ALERTS} where a.tenant_id = $1 and a.alert_id = any($2::uuid[])`;

export type RelatedAlert = AlertView & { readonly reasons: readonly string[] };
interface Related {
  readonly alert_id: string;
  readonly reasons: readonly string[];
}

/** Newest first. */
export const relatedAlerts: Query<{ alertId: string } & Page, { alerts: RelatedAlert[] } & Paginated> = async (
  reads,
  { alertId, ...page },
) => {
  const known = await reads.one('select 1 as known from alerts where tenant_id = $1 and alert_id = $2', [alertId]);
  if (!known) return notFound();
  const list = { body: RELATED, order: 'p.created_at desc, p.alert_id' };
  const { rows: related, ...pages } = await numberedPage<Related>(reads, list, [alertId], page);
  const rows = await reads.rows<AlertWithNames>(ALERTS, [related.map(({ alert_id }) => alert_id)]);
  const views = new Map(rows.map((row) => [row.alert_id, toAlertView(row)]));
  const alerts = related.flatMap(({ alert_id, reasons }) => {
    const view = views.get(alert_id);
    return view ? [{ ...view, reasons }] : [];
  });
  return { alerts, ...pages };
};
