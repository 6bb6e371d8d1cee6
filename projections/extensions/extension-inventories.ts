import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { byStamp, sightingStamp } from '../../src/contexts/extensions/domain/sightings.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { device_id: id, user_id: id, stamp: text };
export type ExtensionInventoryRow = Row<{ columns: typeof columns }>;

/** The latest inventory of each browser and user: extensions reported earlier and missing in it are gone. */
export const extensionInventories = defineReadModel({
  name: 'extension_inventories',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['device_id', 'user_id'],
  indexes: [['user_id']],
  families: [telemetryEvents, deviceEvents, employeeEvents],
  on: {
    TelemetryRecorded: ({ data: { deviceId, userId, observations } }) => {
      const stamp = byStamp(observations)
        .filter(({ kind }) => kind === 'extension_inventory')
        .map(sightingStamp)
        .at(-1);
      if (stamp === undefined) return [];
      const row: ExtensionInventoryRow = { device_id: deviceId, user_id: userId, stamp };
      return {
        key: { device_id: deviceId, user_id: userId },
        fold: (known) => (known && known.stamp >= stamp ? known : row),
      };
    },
    DeviceDeleted: ({ data: { deviceId } }) => ({ purge: { device_id: deviceId } }),
    EmployeeDeleted: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
