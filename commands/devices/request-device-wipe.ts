import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface RequestDeviceWipe {
  readonly deviceId: string;
}

/** The extension wipes its local data at its next heartbeat; until it has, its certificate stays good (choice OP-101). */
export const requestDeviceWipe = defineCommand({
  name: 'RequestDeviceWipe',
  aggregate: device,
  stream: ({ deviceId }: RequestDeviceWipe, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status }, { deviceId }, { id }) {
    if (status === 'none' || status === 'deleted') return notFound();
    if (status === 'wipe_pending') return accept([]);
    // It cannot be reached any more.
    if (status !== 'active') return conflict(`device is ${status}`);
    return accept([{ type: 'DeviceWipeRequested', data: { deviceId, wipeId: id } }]);
  },
  freshens: ['devices', 'live-state'],
});
