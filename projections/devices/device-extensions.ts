import { deviceEvents } from '../../src/domain/devices/events.ts';
import { employeeEvents } from '../../src/domain/employees/events.ts';
import { changedExtensions, snapshotOf, type ExtensionsOnDevice } from '../../src/domain/devices/installed-extensions.ts';
import { telemetryEvents } from '../../src/domain/telemetry/events.ts';
import { defineReadModel, id, json, type Row } from '../../src/kernel/read-model.ts';

const columns = { device_id: id, user_id: id, extensions: json<ExtensionsOnDevice>() };
export type DeviceExtensionsRow = Row<{ columns: typeof columns }>;

/** What is installed in each browser: its latest inventory and the changes since. One row a device, since an inventory speaks for all of it. */
export const deviceExtensions = defineReadModel({
  name: 'device_extensions',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['device_id'],
  indexes: [['user_id']],
  families: [telemetryEvents, deviceEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { deviceId, userId, observations } }) => {
      const told = observations.filter((observation) => observation.kind === 'extension_inventory' || observation.kind === 'extension_event');
      if (told.length === 0) return [];
      const inOrder = told.sort((a, b) => (a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : 0));
      return {
        key: { device_id: deviceId },
        fold: (row: DeviceExtensionsRow | undefined): DeviceExtensionsRow => {
          let extensions = row?.user_id === userId ? row.extensions : { asOf: '', list: [] };
          for (const observation of inOrder) extensions = observation.kind === 'extension_inventory' ? snapshotOf(extensions, observation) : changedExtensions(extensions, observation);
          return { device_id: deviceId, user_id: userId, extensions };
        },
      };
    },
    DeviceDeleted: ({ data: { deviceId } }) => ({ key: { device_id: deviceId }, fold: () => undefined }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
