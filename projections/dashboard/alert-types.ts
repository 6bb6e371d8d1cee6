import { alertEvents } from '../../src/contexts/alerts/domain/events.ts';
import type { AlertType } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  at,
  bigint,
  defineReadModel,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';
import { quarterOf } from '../../src/platform/time-zones/zoned-days.ts';

const columns = { quarter: timestamp, alert_type: text as Column<AlertType>, raised: bigint };
export type AlertTypesRow = Row<{ columns: typeof columns }>;

/** Alerts by type and by the quarter of an hour in which they were raised. Repetitions are not counted. */
export const alertTypesRaised = defineReadModel({
  name: 'alert_types',
  version: 1,
  lane: 'main',
  columns,
  key: ['quarter', 'alert_type'],
  families: [alertEvents],
  on: {
    AlertRaised: (event) => {
      const { alertType, raisedAt } = event.data;
      const key = { quarter: quarterOf(raisedAt ?? at(event)), alert_type: alertType };
      return { key, fold: (row: AlertTypesRow | undefined) => ({ ...key, raised: (row?.raised ?? 0) + 1 }) };
    },
  },
});
