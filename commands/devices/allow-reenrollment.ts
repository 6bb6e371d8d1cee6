import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

interface AllowReenrollment {
  readonly deviceId: string;
}

/**
 * Lets a revoked device enroll once more; until it does, it stays revoked. A later revocation takes the permission back.
 * Its user comes back only with a token that is bound to them.
 */
export const allowReenrollment = defineCommand({
  name: 'AllowReenrollment',
  aggregate: device,
  stream: ({ deviceId }: AllowReenrollment, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, mayReenroll }, { deviceId }) {
    if (status === 'none' || status === 'deleted') return notFound();
    if (status !== 'revoked') return conflict(`device is ${status}`);
    return accept(mayReenroll ? [] : [{ type: 'DeviceReenrollmentAllowed', data: { deviceId } }]);
  },
  freshens: ['devices'],
});
