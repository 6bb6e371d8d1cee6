import { device, deviceStream, heldCertificate } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface PinDeviceCertificate {
  readonly deviceId: string;
  /** Serial number of the certificate on the connection. */
  readonly serialNumber: string;
  readonly publicKeySha256: string;
}

/**
 * Binds a certificate from before public keys were recorded to the first key that presents it. If two keys present the
 * same serial number at once, the append accepts only one.
 */
export const pinDeviceCertificate = defineCommand({
  name: 'PinDeviceCertificate',
  aggregate: device,
  stream: ({ deviceId }: PinDeviceCertificate, { tenantId }) => deviceStream(tenantId, deviceId),
  decide(state, { deviceId, serialNumber, publicKeySha256 }, { now }) {
    const held = heldCertificate(state, serialNumber, now);
    if (!held || (held.publicKeySha256 ?? publicKeySha256) !== publicKeySha256) return unauthenticated();
    return accept(
      held.publicKeySha256 === null
        ? [{ type: 'DeviceCertificatePinned', data: { deviceId, serialNumber, publicKeySha256 } }]
        : [],
    );
  },
});
