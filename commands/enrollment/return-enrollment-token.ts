import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface ReturnEnrollmentToken {
  /** The device that the lost response named. */
  readonly deviceId: string;
  readonly tokenId: string;
}

/**
 * The response of an enrollment was a 503, so nobody holds its certificate: the token counts once more, for this device
 * (decision 0208). Nothing happens if the enrollment did not, or if another one came since. Idempotent.
 */
export const returnEnrollmentToken = defineCommand({
  name: 'ReturnEnrollmentToken',
  aggregate: device,
  stream: ({ deviceId }: ReturnEnrollmentToken, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, enrolledWith, returnedToken }, { deviceId, tokenId }) {
    const isHeld = status === 'active' || status === 'wipe_pending';
    if (!isHeld || enrolledWith !== tokenId || returnedToken === tokenId) return accept([]);
    return accept([{ type: 'EnrollmentTokenReturned', data: { tokenId, deviceId } }]);
  },
  freshens: ['enrollment_tokens'],
});
