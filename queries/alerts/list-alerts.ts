import { paginated, type Page, type Paginated, type Query } from '../../src/platform/kernel/query.ts';
import type { AlertStatus, AlertType, Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { toAlertView, SELECT_ALERTS, type AlertView, type AlertWithNames } from './alert-view.ts';

export interface AlertFilter {
  readonly severity?: Severity | undefined;
  readonly alertType?: AlertType | undefined;
  readonly status?: AlertStatus | undefined;
  /** Inclusive, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const FILTER = `
   where a.tenant_id = $1
     and ($2::text is null or a.severity = $2)
     and ($3::text is null or a.alert_type = $3)
     and ($4::text is null or a.status = $4)
     and ($5::timestamptz is null or a.created_at >= $5)
     and ($6::timestamptz is null or a.created_at <= $6)`;
const COUNT = `select count(*)::int as total from alerts a ${FILTER}`;
const PAGE = `${SELECT_ALERTS} ${FILTER} order by a.created_at desc, a.alert_id limit $7 offset $8`;

export const listAlerts: Query<AlertFilter & Page, { alerts: AlertView[] } & Paginated> = async (reads, input) => {
  const filter = [
    input.severity ?? null,
    input.alertType ?? null,
    input.status ?? null,
    input.from ?? null,
    input.to ?? null,
  ];
  const [count, rows] = await Promise.all([
    reads.figures<{ total: number }>(COUNT, filter),
    reads.rows<AlertWithNames>(PAGE, [...filter, input.pageSize, (input.page - 1) * input.pageSize]),
  ]);
  return { alerts: rows.map(toAlertView), ...paginated(count?.total ?? 0, input) };
};
