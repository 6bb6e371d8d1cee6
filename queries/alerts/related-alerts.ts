import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toAlertView, SELECT_ALERTS, type AlertView, type AlertWithNames } from './alert-view.ts';

/**
 * Alerts with the same user, domain or device within seven days before or after; newest first, at most 50 (choice
 * OP-080).
 */
const SQL = `
  with chosen as (select * from alerts where tenant_id = $1 and alert_id = $2)
  ${SELECT_ALERTS.replace(
    'from alerts a',
    `, array_remove(array[
      case when a.user_id = c.user_id then 'user' end,
      case when a.domain = c.domain then 'domain' end,
      case when a.device_id = c.device_id then 'device' end], null) as reasons
    from chosen c join alerts a on a.tenant_id = c.tenant_id`,
  )}
   where a.tenant_id = $1 and a.alert_id <> c.alert_id
     and (a.user_id = c.user_id or a.domain = c.domain or a.device_id = c.device_id)
     and a.created_at between c.created_at - interval '7 days' and c.created_at + interval '7 days'
   order by a.created_at desc, a.alert_id limit 50`;

export type RelatedAlert = AlertView & { readonly reasons: readonly string[] };

export const relatedAlerts: Query<{ alertId: string }, { alerts: RelatedAlert[]; total: number }> = async (
  reads,
  { alertId },
) => {
  const known = await reads.one('select 1 as known from alerts where tenant_id = $1 and alert_id = $2', [alertId]);
  if (!known) return notFound();
  const rows = await reads.rows<AlertWithNames & { reasons: string[] }>(SQL, [alertId]);
  return { alerts: rows.map((row) => ({ ...toAlertView(row), reasons: row.reasons })), total: rows.length };
};
