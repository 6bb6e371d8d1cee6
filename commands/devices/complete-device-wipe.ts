import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface CompleteDeviceWipe {
  readonly deviceId: string;
  /** The completed wipe, as the extension names it; null: the pending one. */
  readonly wipeId: string | null;
}

/**
 * Records that the extension has wiped its data; its certificates end here (choice OP-101). A wipe that was not
 * requested is ignored.
 */
export const completeDeviceWipe = defineCommand({
  name: 'CompleteDeviceWipe',
  aggregate: device,
  stream: ({ deviceId }: CompleteDeviceWipe, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, wipe }, { deviceId, wipeId }) {
    if (status !== 'wipe_pending' || !wipe) return accept([]);
    if (wipeId !== null && wipeId !== wipe.id) return accept([]);
    return accept([{ type: 'DeviceWiped', data: { deviceId } }]);
  },
});
