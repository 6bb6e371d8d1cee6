import { device, deviceStream, fingerprintClaim } from '../../src/contexts/devices/domain/device.ts';
import { DEVICE_REVOKED, enrollmentKindOf } from '../../src/contexts/devices/domain/reenrollment.ts';
import type { DeviceEvent } from '../../src/contexts/devices/domain/events.ts';
import { employee, employeeStream, isEmployed } from '../../src/contexts/employees/domain/employee.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure, notFound, unavailable } from '../../src/platform/kernel/failure.ts';
import type { DeviceCertificate } from '../../src/platform/pki/device-certificate.ts';
import type { WithAggregates, WithCertificates } from '../ports.ts';
import { FINGERPRINT_MOVED } from './enroll-device.ts';

type Enrolled = Extract<DeviceEvent, { type: 'DeviceEnrolled' }>['data'];

export interface AutoEnrollDevice {
  /** The device whose certificate is on the connection, or a new id. */
  readonly deviceId: string;
  /** The existing device with this fingerprint, which stays unchanged; null unless `deviceId` is new. */
  readonly besideDeviceId: string | null;
  /** Serial number of this device's certificate, if the connection was made with it. */
  readonly certificateSerial: string | null;
  /** An employee from a directory or identity provider: this command creates no employees (F244). */
  readonly userId: string;
  readonly accessKeyDigest: string;
  /** The agent's own key, as an uncompressed P-256 point; null: the server generates one. */
  readonly publicPoint: Buffer | null;
  readonly device: Pick<Enrolled, 'deviceFingerprint' | 'hostname' | 'osType' | 'osVersion' | 'agentVersion'>;
}

interface Facts {
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

/** Enrolls the agent on a known user's computer and issues its certificate and access key. */
export const autoEnrollDevice = defineCommand({
  name: 'AutoEnrollDevice',
  aggregate: device,
  stream: ({ deviceId }: AutoEnrollDevice, { tenantId }) => deviceStream(tenantId, deviceId),
  async prepare(
    { deviceId, userId, publicPoint }: AutoEnrollDevice,
    { aggregates, certificates }: WithAggregates & WithCertificates,
    { tenantId, now },
  ) {
    const [user, { license, authority }] = await Promise.all([
      aggregates.load(employee, employeeStream(tenantId, userId)),
      aggregates.load(tenant, tenantStream(tenantId)),
    ]);
    if (!isEmployed(user)) return notFound('employee_not_found');
    if (!license || Date.parse(license.expiresAt) <= now) return unavailable('enrollment_license_expired');
    if (!authority) return unavailable('certificate_authority_missing');
    const certificate = await certificates.issue(tenantId, authority, { deviceId, publicPoint }, now);
    if (isFailure(certificate)) return certificate;
    const facts: Facts = { certificate, caCertificatePem: authority.certificatePem };
    return facts;
  },
  decide(
    state,
    { deviceId, besideDeviceId, certificateSerial, userId, accessKeyDigest, device: described },
    { now },
    { certificate, caCertificatePem }: Facts,
  ) {
    const standing = enrollmentKindOf(state, { userId: null, certificateSerial, tokenId: null }, now);
    if (standing === 'revoked') return DEVICE_REVOKED;
    if (standing === 'deleted' || standing === 'unproven' || (standing === 'same' && state.userId !== userId))
      return FINGERPRINT_MOVED;
    const expiresAt = new Date(certificate.notAfter).toISOString();
    const enrolled: Enrolled = {
      ...described,
      deviceId,
      userId,
      besideDeviceId,
      // The secret is shared by the fleet, and the user's name is not secret, so the computer's user is not proved.
      isConfirmed: standing === 'same' && state.isConfirmed,
      wipeId: state.wipe?.id ?? null,
      browserType: null,
      browserVersion: null,
      extensionVersion: null,
    };
    return acceptWith(
      { certificate, caCertificatePem },
      [
        { type: 'DeviceEnrolled', data: enrolled },
        {
          type: 'DeviceCertificateIssued',
          data: {
            deviceId,
            serialNumber: certificate.serialNumber,
            publicKeySha256: certificate.publicKeySha256,
            expiresAt,
            previousValidUntil: null,
          },
        },
        { type: 'DeviceAccessKeyIssued', data: { deviceId, accessKeyDigest } },
      ],
      { claim: standing === 'new' && besideDeviceId === null ? [fingerprintClaim(described.deviceFingerprint)] : [] },
    );
  },
  whenClaimed: () => FINGERPRINT_MOVED,
  freshens: ['devices', 'employees', 'agent_keys', 'live-state'],
});
