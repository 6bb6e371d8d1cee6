import { alertEvents } from '../../src/contexts/alerts/domain/events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import { at, defineReadModel, id, nullable, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { alert_id: id, user_id: nullable(id), body: text, raised_at: timestamp };
export type AlertTextRow = Row<{ columns: typeof columns }>;

/**
 * The searchable text of an alert. It never changes, so triage never updates its index. An erasure of the person
 * deletes it.
 */
export const alertTexts = defineReadModel({
  name: 'alert_texts',
  version: 3,
  lane: 'main',
  columns,
  key: ['alert_id'],
  indexes: [
    ['user_id'],
    'using gin (tenant_id, body gin_trgm_ops)',
    `using gin (tenant_id, to_tsvector('english', body))`,
  ],
  families: [alertEvents, employeeEvents],
  on: {
    AlertRaised: (event) => {
      const { alertId, userId, alertType, title, description, domain, raisedAt } = event.data;
      const body = [title, description, alertType, domain ?? ''].join('\n').toLowerCase();
      return {
        key: { alert_id: alertId },
        fold: () =>
          title === ERASED ? undefined : { alert_id: alertId, user_id: userId, body, raised_at: raisedAt ?? at(event) },
      };
    },
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
