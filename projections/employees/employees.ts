import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { employeeEvents, type EmployeeSource } from '../../src/contexts/employees/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import {
  at,
  changeExisting,
  defineReadModel,
  flag,
  id,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  user_id: id,
  email: text,
  display_name: text,
  department: nullable(text),
  job_title: nullable(text),
  status: text as Column<'active' | 'inactive' | 'pending'>,
  source: text as Column<EmployeeSource>,
  external_id: nullable(text),
  is_placeholder: flag,
  is_active: flag,
  has_enrolled: flag,
  created_at: timestamp,
  updated_at: timestamp,
};
export type EmployeeRow = Row<{ columns: typeof columns }>;

/** Choice OP-061: `pending` means not enrolled yet, or a placeholder. */
const withStatus = (row: Omit<EmployeeRow, 'status'>): EmployeeRow => {
  const known = row.has_enrolled && !row.is_placeholder;
  return { ...row, status: !row.is_active ? 'inactive' : known ? 'active' : 'pending' };
};

const change = changeExisting<EmployeeRow>()('user_id');

/** The employees of `GET /users`, and the names for all user ids. */
export const employees = defineReadModel({
  name: 'employees',
  version: 2,
  lane: 'main',
  columns,
  key: ['user_id'],
  indexes: [
    ['created_at desc', 'user_id'],
    ['department'],
    ['external_id'],
    `using gin (tenant_id, lower(email || ' ' || display_name) gin_trgm_ops)`,
  ],
  families: [employeeEvents, deviceEvents],
  on: {
    EmployeeCreated: (event) => ({
      key: { user_id: event.data.userId },
      begins: true,
      fold: () => {
        const { userId, email, displayName, department, jobTitle, externalId, source, isActive, isPlaceholder } =
          event.data;
        // The person is erased later in the log: there is nothing to show.
        if (email === ERASED) return undefined;
        return withStatus({
          user_id: userId,
          email,
          display_name: displayName,
          department,
          job_title: jobTitle,
          source,
          external_id: externalId,
          is_placeholder: isPlaceholder,
          is_active: isActive,
          // A placeholder is created by an enrollment that precedes it in the log.
          has_enrolled: isPlaceholder,
          created_at: at(event),
          updated_at: at(event),
        });
      },
    }),
    EmployeeUpdated: (event) =>
      change(event.data.userId, (row) => {
        const { email, displayName, department, jobTitle, externalId, isActive } = event.data;
        return withStatus({
          ...row,
          email: email ?? row.email,
          display_name: displayName ?? row.display_name,
          department: department === undefined ? row.department : department,
          job_title: jobTitle === undefined ? row.job_title : jobTitle,
          external_id: externalId === undefined ? row.external_id : externalId,
          is_active: isActive ?? row.is_active,
          is_placeholder: row.is_placeholder && email === undefined,
          updated_at: at(event),
        });
      }),
    EmployeeDeleted: (event) => change(event.data.userId, () => undefined),
    EmployeeErased: (event) => change(event.data.userId, () => undefined),
    DeviceEnrolled: (event) =>
      change(event.data.userId, (row) =>
        row.has_enrolled ? row : withStatus({ ...row, has_enrolled: true, updated_at: at(event) }),
      ),
  },
});
