import type { KeysetPaginated, Page, Query } from '../../src/platform/kernel/query.ts';
import type { AlertStatus, AlertType, Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { ascending, descending, listPage, type KeysetOrder } from '../keyset.ts';
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

export const alertOrder: KeysetOrder<AlertWithNames> = {
  list: 'alerts',
  columns: [descending('a.created_at', 'timestamptz'), ascending('a.alert_id', 'uuid')],
  valuesOf: ({ created_at, alert_id }) => [created_at, alert_id],
};

export const listAlerts: Query<AlertFilter & Page, { alerts: AlertView[] } & KeysetPaginated> = async (
  reads,
  input,
) => {
  const filter = [
    input.severity ?? null,
    input.alertType ?? null,
    input.status ?? null,
    input.from ?? null,
    input.to ?? null,
  ];
  const { rows, ...pages } = await listPage(
    reads,
    { order: alertOrder, count: COUNT, page: ({ where, tail }) => `${SELECT_ALERTS} ${FILTER} ${where} ${tail}` },
    filter,
    input,
  );
  return { alerts: rows.map(toAlertView), ...pages };
};
