import { device, deviceStream, heldCertificate } from '../../src/contexts/devices/domain/device.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, forbidden, isFailure, unauthenticated, unavailable } from '../../src/platform/kernel/failure.ts';
import type { DeviceCertificate } from '../../src/platform/pki/device-certificate.ts';
import type { WithAggregates, WithCertificates } from '../ports.ts';

interface RenewDeviceCertificate {
  readonly deviceId: string;
  /** Serial number of the certificate on the connection, which was accepted for this device. */
  readonly certificateSerial: string;
  /** The device's own key, as an uncompressed P-256 point; null: the server generates one. */
  readonly publicPoint: Buffer | null;
}

interface Facts {
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

const DAY_MS = 86_400_000;
/**
 * Choice OP-180. The previous certificate stays valid for a while, because the response with the new one may get lost.
 */
const WINDOW_MS = 30 * DAY_MS;
const OVERLAP_MS = DAY_MS;

/** Issues the next certificate to a device that authenticates with one that expires soon. */
export const renewDeviceCertificate = defineCommand({
  name: 'RenewDeviceCertificate',
  aggregate: device,
  stream: ({ deviceId }: RenewDeviceCertificate, { tenantId }) => deviceStream(tenantId, deviceId),
  async prepare(
    { deviceId, publicPoint }: RenewDeviceCertificate,
    { aggregates, certificates }: WithAggregates & WithCertificates,
    { tenantId, now },
  ) {
    const { license, authority } = await aggregates.load(tenant, tenantStream(tenantId));
    if (!license || Date.parse(license.expiresAt) <= now) return forbidden('license_expired');
    if (!authority) return unavailable('certificate_authority_missing');
    const certificate = await certificates.issue(tenantId, authority, { deviceId, publicPoint }, now);
    if (isFailure(certificate)) return certificate;
    const facts: Facts = { certificate, caCertificatePem: authority.certificatePem };
    return facts;
  },
  decide(state, { deviceId, certificateSerial }, { now }, { certificate, caCertificatePem }: Facts) {
    const shown = heldCertificate(state, certificateSerial, now);
    if (!shown) return unauthenticated();
    if (Date.parse(shown.validUntil) - now > WINDOW_MS) return conflict('renewal_not_due');
    const expiresAt = new Date(certificate.notAfter).toISOString();
    const previousValidUntil = new Date(now + OVERLAP_MS).toISOString();
    return acceptWith({ userId: state.userId, expiresAt, certificate, caCertificatePem }, [
      {
        type: 'DeviceCertificateIssued',
        data: {
          deviceId,
          serialNumber: certificate.serialNumber,
          publicKeySha256: certificate.publicKeySha256,
          expiresAt,
          previousValidUntil,
        },
      },
    ]);
  },
  freshens: ['devices', 'live-state'],
});
