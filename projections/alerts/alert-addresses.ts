import { alertEvents } from '../../src/contexts/alerts/domain/events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import { defineReadModel, id, nullable, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { alert_id: id, user_id: nullable(id), url: text };
export type AlertAddressRow = Row<{ columns: typeof columns }>;

/**
 * The URL of an alert. It reveals where a person was, so it has its own table: an erasure deletes it, and the alert
 * stays.
 */
export const alertAddresses = defineReadModel({
  name: 'alert_addresses',
  version: 1,
  lane: 'main',
  columns,
  key: ['alert_id'],
  indexes: [['user_id']],
  families: [alertEvents, employeeEvents],
  on: {
    AlertRaised: ({ data: { alertId, userId, url } }) => ({
      key: { alert_id: alertId },
      fold: () => (url === null || url === ERASED ? undefined : { alert_id: alertId, user_id: userId, url }),
    }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
