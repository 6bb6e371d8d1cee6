import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import type { CertificateRevocationReason } from '../../src/platform/pki/revocation-list.ts';
import { at, defineReadModel, id, json, type Row } from '../../src/platform/kernel/read-model.ts';

export interface KnownCertificate {
  readonly serialNumber: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
  /** The certificate is refused from this time on; null if it is valid until it expires. */
  readonly endedAt: string | null;
  readonly reason: CertificateRevocationReason | null;
}

const columns = { device_id: id, certificates: json<readonly KnownCertificate[]>() };
export type DeviceCertificatesRow = Row<{ columns: typeof columns }>;

const MAX_A_DEVICE = 20;
const REASONS = {
  revoked: 'privilegeWithdrawn',
  user_deleted: 'affiliationChanged',
  user_left: 'affiliationChanged',
  deleted: 'cessationOfOperation',
  wiped: 'cessationOfOperation',
} as const;

/** The earlier end wins: a certificate that is already refused stays refused. */
const ended = (
  certificate: KnownCertificate,
  endedAt: string,
  reason: CertificateRevocationReason,
): KnownCertificate =>
  certificate.endedAt !== null && certificate.endedAt <= endedAt ? certificate : { ...certificate, endedAt, reason };

const endAll = (deviceId: string, endedAt: string, reason: CertificateRevocationReason) => ({
  key: { device_id: deviceId },
  fold: (row: DeviceCertificatesRow | undefined) =>
    row && { ...row, certificates: row.certificates.map((one) => ended(one, endedAt, reason)) },
});

/**
 * Every certificate that a device got, and when it ended: the source of the revocation list. Rows outlive the device.
 */
export const deviceCertificates = defineReadModel({
  name: 'device_certificates',
  version: 1,
  lane: 'main',
  columns,
  key: ['device_id'],
  families: [deviceEvents],
  on: {
    DeviceCertificateIssued: (event) => ({
      key: { device_id: event.data.deviceId },
      fold: (row) => {
        const { deviceId, serialNumber, expiresAt, previousValidUntil } = event.data;
        const before = (row?.certificates ?? [])
          .filter((one) => one.expiresAt > at(event))
          .map((one) => ended(one, previousValidUntil ?? at(event), 'superseded'));
        const issued: KnownCertificate = { serialNumber, issuedAt: at(event), expiresAt, endedAt: null, reason: null };
        return { device_id: deviceId, certificates: [...before, issued].slice(-MAX_A_DEVICE) };
      },
    }),
    DeviceRevoked: (event) => endAll(event.data.deviceId, at(event), REASONS[event.data.reason]),
    DeviceWiped: (event) => endAll(event.data.deviceId, at(event), REASONS.wiped),
  },
});
