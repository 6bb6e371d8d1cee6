import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { verificationEvents } from '../../src/contexts/verification/domain/events.ts';
import {
  at,
  defineReadModel,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  alert_id: id,
  alert_type: text as Column<'repeated_failures'>,
  user_id: id,
  failures: integer,
  read_at: nullable(timestamp),
  created_at: timestamp,
};
export type VerificationAlertRow = Row<{ columns: typeof columns }>;

/** Employees with too many failed codes: `GET /verification/alerts`. */
export const verificationAlerts = defineReadModel({
  name: 'verification_alerts',
  version: 1,
  lane: 'main',
  columns,
  key: ['alert_id'],
  indexes: [['created_at desc', 'alert_id']],
  families: [verificationEvents, employeeEvents],
  on: {
    VerificationAlertRaised: (event) => ({
      key: { alert_id: event.data.alertId },
      fold: () => {
        const { alertId, alertType, userId, failures } = event.data;
        return {
          alert_id: alertId,
          alert_type: alertType,
          user_id: userId,
          failures,
          read_at: null,
          created_at: at(event),
        };
      },
    }),
    VerificationAlertRead: (event) => ({
      key: { alert_id: event.data.alertId },
      fold: (row) => row && { ...row, read_at: event.data.at },
    }),
    EmployeeErased: (event) => ({ purge: { user_id: event.data.userId } }),
  },
});
