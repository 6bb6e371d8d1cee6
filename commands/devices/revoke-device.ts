import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import type { DeviceRevocationReason } from '../../src/contexts/devices/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeDevice {
  readonly deviceId: string;
  readonly reason: Exclude<DeviceRevocationReason, 'deleted' | 'wiped'>;
  /** Only while it is this user's: it may have passed to another since the caller looked. */
  readonly ofUserId?: string;
}

/**
 * Ends all of a device's certificates: its next request is refused, on an open connection too. Twice is once (choice OP-100);
 * for a device that is cut off already it only records that its user was deleted, or that it may not enroll again after all.
 */
export const revokeDevice = defineCommand({
  name: 'RevokeDevice',
  aggregate: device,
  stream: ({ deviceId }: RevokeDevice, { tenantId }) => deviceStream(tenantId, deviceId),
  decide({ status, userId, mayReenroll }, { deviceId, reason, ofUserId = userId }) {
    if (status === 'none' || status === 'deleted') return notFound();
    if (userId !== ofUserId) return accept([]);
    const isCutOff = status === 'revoked' || status === 'wiped';
    if (isCutOff && !mayReenroll && (reason !== 'user_deleted' || userId === '')) return accept([]);
    return accept([{ type: 'DeviceRevoked', data: { deviceId, reason } }]);
  },
  freshens: ['devices', 'device_certificates', 'live-state'],
});
