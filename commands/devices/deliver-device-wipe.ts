import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface DeliverDeviceWipe {
  readonly deviceId: string;
}

/**
 * Records that the device was instructed to wipe itself. The instruction is repeated until the device reports
 * completion; only the first delivery is recorded.
 */
export const deliverDeviceWipe = defineCommand({
  name: 'DeliverDeviceWipe',
  aggregate: device,
  stream: ({ deviceId }: DeliverDeviceWipe, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, wipe }, { deviceId }) {
    if (status !== 'wipe_pending' || !wipe || wipe.delivered) return accept([]);
    return accept([{ type: 'DeviceWipeDelivered', data: { deviceId, wipeId: wipe.id } }]);
  },
  // The administrator who requested it may be watching the list.
  freshens: ['devices'],
});
