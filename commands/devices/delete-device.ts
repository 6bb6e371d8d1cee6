import { device, deviceStream, fingerprintClaimOf } from '../../src/contexts/devices/domain/device.ts';
import type { DeviceEvent } from '../../src/contexts/devices/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteDevice {
  readonly deviceId: string;
}

/** Revokes and deletes the device. The same browser may enroll again, as another device. */
export const deleteDevice = defineCommand({
  name: 'DeleteDevice',
  aggregate: device,
  stream: ({ deviceId }: DeleteDevice, { tenantId }) => deviceStream(tenantId, deviceId),
  decide(state, { deviceId }) {
    const { status } = state;
    if (status === 'none' || status === 'deleted') return notFound();
    const isCutOff = status === 'revoked' || status === 'wiped';
    const revoked: DeviceEvent[] = isCutOff ? [] : [{ type: 'DeviceRevoked', data: { deviceId, reason: 'deleted' } }];
    return accept([...revoked, { type: 'DeviceDeleted', data: { deviceId } }], {
      release: [fingerprintClaimOf(state)],
    });
  },
  freshens: ['devices', 'live-state'],
});
