import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface AllowReenrollment {
  readonly deviceId: string;
}

/**
 * Allows a revoked device to enroll once more; it stays revoked until it does. A later revocation withdraws the
 * permission. The device keeps its user only if the token is bound to that user.
 */
export const allowReenrollment = defineCommand({
  name: 'AllowReenrollment',
  aggregate: device,
  stream: ({ deviceId }: AllowReenrollment, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, mayReenroll }, { deviceId }) {
    if (status === 'none' || status === 'deleted') return notFound();
    if (status !== 'revoked') return conflict('device_status', `device is ${status}`);
    return accept(mayReenroll ? [] : [{ type: 'DeviceReenrollmentAllowed', data: { deviceId } }]);
  },
  freshens: ['devices'],
});
