import { alertEvents } from '../../src/contexts/alerts/domain/events.ts';
import type { AlertType, Severity } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  bigint,
  day,
  dayOf,
  defineReadModel,
  text,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = { day, alert_type: text as Column<AlertType>, severity: text as Column<Severity>, raised: bigint };
export type AlertDailyRow = Row<{ columns: typeof columns }>;

/** Alerts by the UTC day on which they were raised, with their original severity. Repetitions are not counted. */
export const alertDaily = defineReadModel({
  name: 'alert_daily',
  version: 1,
  lane: 'main',
  columns,
  key: ['day', 'alert_type', 'severity'],
  families: [alertEvents],
  on: {
    AlertRaised: ({ recordedAt, data: { alertType, severity } }) => {
      const key = { day: dayOf(recordedAt), alert_type: alertType, severity };
      return { key, fold: (row: AlertDailyRow | undefined) => ({ ...key, raised: (row?.raised ?? 0) + 1 }) };
    },
  },
});
