import { loginsIn } from '../../src/contexts/credentials/domain/observed-login.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { bigint, defineReadModel, id, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';
import { quarterOf } from '../../src/platform/time-zones/zoned-days.ts';

const columns = {
  quarter: timestamp,
  user_id: id,
  password_hash: text,
  uses: bigint,
  /** The uses for which the browser reported the password as breached. */
  breached_uses: bigint,
};
export type PasswordUseRow = Row<{ columns: typeof columns }>;

/** The uses of each password of a person by quarter of an hour, until retention removes them. */
export const passwordUses = defineReadModel({
  name: 'password_uses',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['quarter', 'user_id', 'password_hash'],
  indexes: [['user_id'], '(tenant_id, quarter, user_id, password_hash) where breached_uses > 0'],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      loginsIn(observations).map(({ observation: { occurredAt, isBreached }, passwordHash }) => {
        const key = { quarter: quarterOf(occurredAt), user_id: userId, password_hash: passwordHash };
        const fold = (row: PasswordUseRow | undefined): PasswordUseRow => ({
          ...key,
          uses: (row?.uses ?? 0) + 1,
          breached_uses: (row?.breached_uses ?? 0) + (isBreached ? 1 : 0),
        });
        return { key, fold };
      }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
