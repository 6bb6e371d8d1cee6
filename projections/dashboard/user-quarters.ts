import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { bigint, defineReadModel, id, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';
import { byQuarter } from '../telemetry/telemetry-quarters.ts';

const columns = {
  quarter: timestamp,
  user_id: id,
  observations: bigint,
  new_sites: bigint,
  warnings: bigint,
  blocks: bigint,
};
export type UserQuarterRow = Row<{ columns: typeof columns }>;

/** Counters of a person's browsers by quarter of an hour, until retention removes them. */
export const userQuarters = defineReadModel({
  name: 'user_quarters',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['quarter', 'user_id'],
  indexes: [
    ['user_id'],
    '(tenant_id, quarter, user_id) include (new_sites) where new_sites > 0',
    '(tenant_id, quarter, user_id) include (warnings) where warnings > 0',
  ],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      [...byQuarter(observations)].map(([quarter, seen]) => ({
        key: { quarter, user_id: userId },
        fold: (row: UserQuarterRow | undefined) => sum(row ?? nothing(quarter, userId), seen),
      })),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

const nothing = (quarter: string, userId: string): UserQuarterRow => ({
  quarter,
  user_id: userId,
  observations: 0,
  new_sites: 0,
  warnings: 0,
  blocks: 0,
});

function sum(row: UserQuarterRow, observations: readonly Observation[]): UserQuarterRow {
  const next = { ...row, observations: row.observations + observations.length };
  for (const one of observations) {
    if (one.kind === 'navigation' && one.isNewSite) next.new_sites += 1;
    if ('action' in one && one.action === 'warn') next.warnings += 1;
    if ('action' in one && one.action === 'block') next.blocks += 1;
  }
  return next;
}
