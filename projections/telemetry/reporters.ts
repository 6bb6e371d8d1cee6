import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { bigint, defineReadModel, id, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';
import { later, span } from '../../src/contexts/discovery/domain/sightings.ts';

const columns = { user_id: id, device_id: id, observations: bigint, last_observed_at: timestamp };
export type ReporterRow = Row<{ columns: typeof columns }>;

/** Number of observations per person and device, one row each. */
export const reporters = defineReadModel({
  name: 'reporters',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['user_id', 'device_id'],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { userId, deviceId, observations } }) => {
      if (observations.length === 0) return [];
      const key = { user_id: userId, device_id: deviceId };
      const { lastSeenAt } = span(observations);
      const fold = (row: ReporterRow | undefined): ReporterRow => ({
        ...key,
        observations: (row?.observations ?? 0) + observations.length,
        last_observed_at: later(row?.last_observed_at ?? lastSeenAt, lastSeenAt),
      });
      return { key, fold };
    },
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
