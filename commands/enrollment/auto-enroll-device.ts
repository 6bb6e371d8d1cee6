import { device, deviceStream, fingerprintClaim } from '../../src/domain/devices/device.ts';
import type { DeviceEvent } from '../../src/domain/devices/events.ts';
import { employee, employeeStream } from '../../src/domain/employees/employee.ts';
import { tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import { isFailure, notFound, unavailable } from '../../src/kernel/failure.ts';
import type { DeviceCertificate } from '../../src/pki/device-certificate.ts';
import type { CommandPorts } from '../../src/services.ts';
import { FINGERPRINT_MOVED } from './enroll-device.ts';

type Enrolled = Extract<DeviceEvent, { type: 'DeviceEnrolled' }>['data'];

export interface AutoEnrollDevice {
  readonly deviceId: string;
  /** Somebody whom a directory or an identity provider keeps: nobody is made up here (F244). */
  readonly userId: string;
  readonly accessKeyDigest: string;
  readonly device: Pick<Enrolled, 'deviceFingerprint' | 'hostname' | 'osType' | 'osVersion' | 'agentVersion'>;
}

interface Facts {
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

/** The agent on a known user's computer gets a certificate and a key of its own. */
export const autoEnrollDevice = defineCommand({
  name: 'AutoEnrollDevice',
  aggregate: device,
  stream: ({ deviceId }: AutoEnrollDevice, { tenantId }) => deviceStream(tenantId, deviceId),
  async prepare(
    { deviceId, userId }: AutoEnrollDevice,
    { aggregates, certificates }: Pick<CommandPorts, 'aggregates' | 'certificates'>,
    { tenantId, now },
  ) {
    const [{ status }, { license, authority }] = await Promise.all([
      aggregates.load(employee, employeeStream(tenantId, userId)),
      aggregates.load(tenant, tenantStream(tenantId)),
    ]);
    if (status !== 'present') return notFound('user not found');
    if (!license || Date.parse(license.expiresAt) <= now) return unavailable('license expired');
    if (!authority) return unavailable('certificate service not configured');
    const certificate = await certificates.issue(tenantId, authority, deviceId, now);
    if (isFailure(certificate)) return certificate;
    const facts: Facts = { certificate, caCertificatePem: authority.certificatePem };
    return facts;
  },
  decide(state, { deviceId, userId, accessKeyDigest, device: described }, _context, { certificate, caCertificatePem }: Facts) {
    if (state.status === 'deleted') return FINGERPRINT_MOVED;
    const expiresAt = new Date(certificate.notAfter).toISOString();
    const enrolled: Enrolled = { ...described, deviceId, userId, browserType: null, browserVersion: null, extensionVersion: null };
    return acceptWith(
      { certificate, caCertificatePem },
      [
        { type: 'DeviceEnrolled', data: enrolled },
        { type: 'DeviceCertificateIssued', data: { deviceId, serialNumber: certificate.serialNumber, expiresAt, previousValidUntil: null } },
        { type: 'DeviceAccessKeyIssued', data: { deviceId, accessKeyDigest } },
      ],
      { take: state.status === 'none' ? [fingerprintClaim(described.deviceFingerprint)] : [] },
    );
  },
  whenClaimed: () => FINGERPRINT_MOVED,
  freshens: ['devices', 'employees', 'agent_keys', 'live-state'],
});
