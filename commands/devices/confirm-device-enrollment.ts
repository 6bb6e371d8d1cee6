import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ConfirmDeviceEnrollment {
  readonly deviceId: string;
}

/** An administrator has made sure that the device is its user's: it gets verification codes from now on. Twice is once. */
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
