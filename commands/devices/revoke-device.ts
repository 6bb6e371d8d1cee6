import { device, deviceStream } from '../../src/contexts/devices/domain/device.ts';
import type { DeviceRevocationReason } from '../../src/contexts/devices/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeDevice {
  readonly deviceId: string;
  readonly reason: Exclude<DeviceRevocationReason, 'deleted' | 'wiped'>;
  /** Revoke only if the device still belongs to this user: it may have changed since the caller read it. */
  readonly ofUserId?: string;
}

/**
 * Ends all certificates of a device: its next request is refused, even on an open connection. Idempotent (choice
 * OP-100). For a device that is already revoked or wiped, it records only that its user was deleted or that
 * re-enrollment is no longer allowed.
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
