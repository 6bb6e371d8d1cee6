import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface RequestDeviceWipe {
  readonly deviceId: string;
}

/**
 * Requests a wipe. The extension wipes its local data at its next heartbeat; its certificate stays valid until it has
 * (choice OP-101).
 */
export const requestDeviceWipe = defineCommand({
  name: 'RequestDeviceWipe',
  aggregate: device,
  stream: ({ deviceId }: RequestDeviceWipe, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status }, { deviceId }, { id }) {
    if (status === 'none' || status === 'deleted') return notFound();
    if (status === 'wipe_pending') return accept([]);
    // The device can no longer be reached.
    if (status !== 'active') return conflict('device_status', `device is ${status}`);
    return accept([{ type: 'DeviceWipeRequested', data: { deviceId, wipeId: id } }]);
  },
  freshens: ['devices', 'live-state'],
});
