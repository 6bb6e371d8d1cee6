import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ConfirmDeviceEnrollment {
  readonly deviceId: string;
}

/** Records that an administrator confirmed the device's user; from then on it gets verification codes. Idempotent. */
export const confirmDeviceEnrollment = defineCommand({
  name: 'ConfirmDeviceEnrollment',
  aggregate: device,
  stream: ({ deviceId }: ConfirmDeviceEnrollment, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, isConfirmed }, { deviceId }) {
    if (status === 'none' || status === 'deleted') return notFound();
    return accept(isConfirmed ? [] : [{ type: 'DeviceEnrollmentConfirmed', data: { deviceId } }]);
  },
  freshens: ['devices', 'live-state'],
});
