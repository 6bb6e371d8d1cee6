import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { extensionChangeKinds as changes } from '../../src/contexts/telemetry/domain/vocabulary.ts';
import {
  at,
  day,
  defineReadModel,
  id,
  json,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  event_id: id,
  /** The UTC day on which it occurred. */
  day,
  device_id: id,
  user_id: id,
  extension_id: text,
  change: text as Column<(typeof changes)[number]>,
  name: nullable(text),
  version: nullable(text),
  permissions: nullable(json<readonly string[]>()),
  occurred_at: timestamp,
  received_at: timestamp,
};
export type ExtensionChangeRow = Row<{ columns: typeof columns }>;

/** Changes of extensions as reported by browsers, until retention removes them (choice OP-122). */
export const extensionChanges = defineReadModel({
  name: 'extension_changes',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['event_id', 'device_id', 'day'],
  indexes: [
    ['occurred_at desc', 'event_id'],
    ['extension_id', 'occurred_at desc'],
    ['device_id', 'occurred_at desc'],
    ['user_id', 'occurred_at desc'],
  ],
  families: [telemetryEvents, employeeEvents],
  on: {
    TelemetryRecorded: (event) =>
      event.data.observations
        .filter((observation) => observation.kind === 'extension_event')
        .map(({ eventId, extensionId, change, name, version, permissions, occurredAt }) => ({
          // An id counts once per device and day (OP-153): the log holds no second observation with these three.
          key: { event_id: eventId, device_id: event.data.deviceId, day: occurredAt.slice(0, 10) },
          fold: (row: ExtensionChangeRow | undefined): ExtensionChangeRow =>
            row ?? {
              event_id: eventId,
              day: occurredAt.slice(0, 10),
              device_id: event.data.deviceId,
              user_id: event.data.userId,
              extension_id: extensionId,
              change,
              name,
              version,
              permissions,
              occurred_at: occurredAt,
              received_at: at(event),
            },
        })),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
