import { device, deviceStream, fingerprintClaim } from '../../src/domain/devices/device.ts';
import type { DeviceEvent } from '../../src/domain/devices/events.ts';
import { enrollmentToken, enrollmentTokenStream, identifyToken, isRedeemable, singleUse } from '../../src/domain/enrollment/enrollment-token.ts';
import { tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { acceptWith, defineCommand } from '../../src/kernel/command.ts';
import { conflict, isFailure, unauthenticated, unavailable } from '../../src/kernel/failure.ts';
import type { DeviceCertificate } from '../../src/pki/device-certificate.ts';
import type { CommandPorts } from '../../src/services.ts';
import { admit } from '../employees/admission.ts';
import { placeholderEmail } from '../employees/create-placeholder-employee.ts';

type Enrolled = Extract<DeviceEvent, { type: 'DeviceEnrolled' }>['data'];

export interface EnrollDevice {
  /** Of the device that holds the fingerprint, or a fresh one. */
  readonly deviceId: string;
  readonly enrollmentToken: string;
  readonly device: Omit<Enrolled, 'deviceId' | 'userId'>;
}

interface Facts {
  readonly tokenId: string;
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

/** One answer for unknown, foreign, expired and used tokens: it says nothing about which tokens there are. */
export const INVALID_TOKEN = unauthenticated('invalid or expired enrollment token');
/** Another request enrolled or deleted the device of this fingerprint just now: find out which device it is, and try again. */
export const FINGERPRINT_MOVED = conflict('the device is being enrolled');

type Ports = Pick<CommandPorts, 'aggregates' | 'claimHolder' | 'certificates' | 'accountDigest'>;

/**
 * A browser exchanges its token for a certificate. Using the token, enrolling the device and naming its certificate are one
 * append that takes the token's single use with it, so that a crash leaves all of it or nothing, and of any number of
 * simultaneous uses one wins. The certificate is made before: nothing is left to fail afterwards.
 */
export const enrollDevice = defineCommand({
  name: 'EnrollDevice',
  aggregate: device,
  stream: ({ deviceId }: EnrollDevice, { tenantId }) => deviceStream(tenantId, deviceId),
  async prepare(input: EnrollDevice, ports: Ports, { tenantId, now }) {
    const { aggregates, claimHolder, certificates } = ports;
    const { tokenId, tokenDigest } = identifyToken(input.enrollmentToken);
    const [issued, owner, known, usedBy] = await Promise.all([
      aggregates.load(enrollmentToken, enrollmentTokenStream(tenantId, tokenId)),
      aggregates.load(tenant, tenantStream(tenantId)),
      aggregates.load(device, deviceStream(tenantId, input.deviceId)),
      claimHolder(tenantId, singleUse(tokenId)),
    ]);
    const licensed = owner.license !== undefined && Date.parse(owner.license.expiresAt) > now;
    if (usedBy !== undefined || !licensed || !isRedeemable(issued, tokenDigest, now)) return INVALID_TOKEN;
    if (!owner.authority) return unavailable('certificate service not configured');
    // Where no seat is left for a placeholder, the token stays good until there is one (choice OP-054).
    const admission = known.userId === '' ? await admit(tenantId, placeholderEmail(input.deviceId), ports) : undefined;
    if (isFailure(admission)) return admission;
    const certificate = await certificates.issue(tenantId, owner.authority, input.deviceId, now);
    if (isFailure(certificate)) return certificate;
    const facts: Facts = { tokenId, certificate, caCertificatePem: owner.authority.certificatePem };
    return facts;
  },
  decide(state, { deviceId, device: described }, { id }, { tokenId, certificate, caCertificatePem }: Facts) {
    if (state.status === 'deleted') return FINGERPRINT_MOVED;
    // Nobody has said whose browser it is: until somebody does, it belongs to a placeholder (interface, "Device enrollment result").
    const userId = state.userId || id;
    const expiresAt = new Date(certificate.notAfter).toISOString();
    const isNew = state.status === 'none';
    return acceptWith(
      { userId, expiresAt, certificate, caCertificatePem },
      [
        { type: 'EnrollmentTokenUsed', data: { tokenId, deviceId } },
        { type: 'DeviceEnrolled', data: { ...described, deviceId, userId } },
        { type: 'DeviceCertificateIssued', data: { deviceId, serialNumber: certificate.serialNumber, expiresAt, previousValidUntil: null } },
      ],
      { take: [singleUse(tokenId), ...(isNew ? [fingerprintClaim(described.deviceFingerprint)] : [])] },
    );
  },
  whenClaimed: ({ kind }) => (kind === 'device-fingerprint' ? FINGERPRINT_MOVED : INVALID_TOKEN),
  freshens: ['devices', 'enrollment_tokens', 'employees', 'live-state'],
});
