import { device, deviceStream, heldCertificate } from '../../src/contexts/devices/domain/device.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface PinDeviceCertificate {
  readonly deviceId: string;
  /** Of the certificate that the connection shows. */
  readonly serialNumber: string;
  readonly publicKeySha256: string;
}

/**
 * Binds a certificate that was issued before public keys were recorded to the key that shows it first. Of two keys that
 * show the same serial number at once, the append lets one in.
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
