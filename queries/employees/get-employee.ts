import { employees } from '../../projections/employees/employees.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toEmployeeView, selectEmployees, type EmployeeView, type EmployeeWithDevices } from './employee-view.ts';

const SQL = `${selectEmployees('employees')} where e.tenant_id = $1 and e.user_id = $2`;

export const getEmployee: Query<{ userId: string }, EmployeeView> = async (reads, { userId }) => {
  const row = await reads.one<EmployeeWithDevices>(SQL, [userId]);
  return row ? toEmployeeView(row) : notFound();
};

/** What a new employee has: no devices, alerts or credentials. */
const NOTHING_YET = {
  device_count: 0,
  last_seen_at: null,
  open_critical: 0,
  open_high: 0,
  open_medium: 0,
  open_low: 0,
  breached_count: 0,
  reused_count: 0,
  links: [],
} satisfies Partial<EmployeeWithDevices>;

/** An employee from the events that created them. */
export const viewOfNewEmployee =
  (userId: string) =>
  (events: readonly RecordedEvent[]): EmployeeView | undefined => {
    const row = newRow(employees, { user_id: userId }, events);
    return row && toEmployeeView({ ...row, ...NOTHING_YET });
  };
