import { alertSeverityEvents, type AlertSeverityState } from '../../src/contexts/settings/domain/alert-severity.ts';
import { at, defineReadModel, id, json, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { id, severities: json<AlertSeverityState['severities']>(), updated_at: timestamp };
export type AlertSeveritiesRow = Row<{ columns: typeof columns }>;

/** The severities that a tenant has set, one row per tenant, without types that were never set. */
export const alertSeverities = defineReadModel({
  name: 'alert_severities',
  version: 1,
  lane: 'main',
  columns,
  key: ['id'],
  families: [alertSeverityEvents],
  on: {
    AlertSeveritiesSet: (event) => ({
      key: { id: event.tenantId },
      fold: (row) => ({
        id: event.tenantId,
        severities: { ...row?.severities, ...event.data.severities },
        updated_at: at(event),
      }),
    }),
  },
});
