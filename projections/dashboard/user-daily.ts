import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { bigint, day, defineReadModel, id, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { day, user_id: id, observations: bigint, new_sites: bigint, warnings: bigint, blocks: bigint };
export type UserDailyRow = Row<{ columns: typeof columns }>;

/** Counters of a person's browsers by UTC day. Top lists sum at most ninety rows per person. */
export const userDaily = defineReadModel({
  name: 'user_daily',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['day', 'user_id'],
  indexes: [
    ['user_id'],
    '(tenant_id, day, user_id) include (new_sites) where new_sites > 0',
    '(tenant_id, day, user_id) include (warnings) where warnings > 0',
  ],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, observations } }) =>
      [...new Set(observations.map(dayOfObservation))].map((on) => ({
        key: { day: on, user_id: userId },
        fold: (row: UserDailyRow | undefined) =>
          sum(
            row ?? nothing(on, userId),
            observations.filter((one) => dayOfObservation(one) === on),
          ),
      })),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});

export const dayOfObservation = ({ occurredAt }: Observation): string => occurredAt.slice(0, 10);

const nothing = (on: string, userId: string): UserDailyRow => ({
  day: on,
  user_id: userId,
  observations: 0,
  new_sites: 0,
  warnings: 0,
  blocks: 0,
});

function sum(row: UserDailyRow, observations: readonly Observation[]): UserDailyRow {
  const next = { ...row, observations: row.observations + observations.length };
  for (const one of observations) {
    if (one.kind === 'navigation' && one.isNewSite) next.new_sites += 1;
    if ('action' in one && one.action === 'warn') next.warnings += 1;
    if ('action' in one && one.action === 'block') next.blocks += 1;
  }
  return next;
}
