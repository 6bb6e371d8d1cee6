import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toAlertView, SELECT_ALERTS, type AlertView, type AlertWithNames } from './alert-view.ts';

const SQL = `${SELECT_ALERTS} where a.tenant_id = $1 and a.alert_id = $2`;

export const getAlert: Query<{ alertId: string }, AlertView> = async (reads, { alertId }) => {
  const row = await reads.one<AlertWithNames>(SQL, [alertId]);
  return row ? toAlertView(row) : notFound();
};
