import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface DeliverDeviceWipe {
  readonly deviceId: string;
}

/** The device is being told to wipe itself. It is told again until it says that it has; the first time is history. */
export const deliverDeviceWipe = defineCommand({
  name: 'DeliverDeviceWipe',
  aggregate: device,
  stream: ({ deviceId }: DeliverDeviceWipe, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, wipe }, { deviceId }) {
    if (status !== 'wipe_pending' || !wipe || wipe.delivered) return accept([]);
    return accept([{ type: 'DeviceWipeDelivered', data: { deviceId, wipeId: wipe.id } }]);
  },
  // The administrator who asked for it may be looking.
  freshens: ['devices'],
});
