import { revokeDevice } from '../../../../commands/devices/revoke-device.ts';
import { deviceEvents } from '../../devices/domain/events.ts';
import { employeeEvents } from '../domain/events.ts';
import { defineReaction, effect, type Effect } from '../../../platform/kernel/reaction.ts';
import { flag, id, json } from '../../../platform/kernel/read-model.ts';

const revoke = (deviceId: string, userId: string): Effect =>
  effect(revokeDevice, { deviceId, reason: 'user_deleted', ofUserId: userId });

/**
 * Revokes all devices that a deleted employee ever had (choice OP-069), including one that enrolls for them at that
 * moment. A device that now belongs to another employee stays valid.
 */
export const whenEmployeeDeletedRevokeDevices = defineReaction({
  name: 'when-employee-deleted-revoke-devices',
  lane: 'main',
  families: [employeeEvents, deviceEvents],
  state: {
    columns: { user_id: id, device_ids: json<readonly string[]>(), is_deleted: flag },
    key: ['user_id'],
  },
  on: {
    DeviceEnrolled: ({ data: { userId, deviceId } }) => [
      {
        key: { user_id: userId },
        react: (row = { user_id: userId, device_ids: [], is_deleted: false }) =>
          row.is_deleted
            ? { row, effects: [revoke(deviceId, userId)] }
            : { row: { ...row, device_ids: [...new Set([...row.device_ids, deviceId])] }, effects: [] },
      },
    ],
    EmployeeDeleted: ({ data: { userId } }) => [
      {
        key: { user_id: userId },
        react: (row) => ({
          row: { user_id: userId, device_ids: [], is_deleted: true },
          effects: (row?.device_ids ?? []).map((deviceId) => revoke(deviceId, userId)),
        }),
      },
    ],
  },
});
