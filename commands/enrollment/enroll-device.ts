import {
  device,
  deviceStream,
  fingerprintClaim,
  fingerprintClaimOf,
  latestSerial,
  type DeviceState,
  userFingerprintClaim,
} from '../../src/contexts/devices/domain/device.ts';
import type { DeviceEvent } from '../../src/contexts/devices/domain/events.ts';
import { DEVICE_REVOKED, enrollmentKindOf, isReturned } from '../../src/contexts/devices/domain/reenrollment.ts';
import {
  employee,
  employeeEmailClaim,
  employeeStream,
  isEmployed,
} from '../../src/contexts/employees/domain/employee.ts';
import {
  enrollmentToken,
  enrollmentTokenStream,
  identifyToken,
  isRedeemable,
  repeatedUse,
  singleUse,
} from '../../src/contexts/enrollment/domain/enrollment-token.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand, type Claim } from '../../src/platform/kernel/command.ts';
import { conflict, isFailure, unauthenticated, unavailable } from '../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { DeviceCertificate } from '../../src/platform/pki/device-certificate.ts';
import type {
  WithAccountDigest,
  WithAggregates,
  WithCertificates,
  WithClaimHolder,
  WithFreeNumbers,
} from '../ports.ts';
import { admitEmployee } from '../employees/employee-admission.ts';
import { placeholderEmail } from '../employees/create-placeholder-employee.ts';

type Enrolled = Extract<DeviceEvent, { type: 'DeviceEnrolled' }>['data'];

export interface EnrollDevice {
  /** The device that this browser is proved to be, or a new id. */
  readonly deviceId: string;
  /** The existing device with this fingerprint, which stays unchanged; null unless `deviceId` is new. */
  readonly besideDeviceId: string | null;
  /** Serial number of this device's certificate, if the connection was made with it. */
  readonly certificateSerial: string | null;
  /**
   * Serial number of the device's latest certificate when the request arrived; null: it had none. If that has changed, a
   * concurrent request enrolled the device, and this one must not end its certificate. Undefined: not checked.
   */
  readonly expectedSerial?: string | null;
  readonly enrollmentToken: string;
  /** The device's own key, as an uncompressed P-256 point; null: the server generates one. */
  readonly publicPoint: Buffer | null;
  readonly device: Omit<Enrolled, 'deviceId' | 'userId' | 'besideDeviceId' | 'isConfirmed' | 'wipeId'>;
}

interface Facts {
  readonly tokenId: string;
  /** The employee that the token is bound to. */
  readonly boundUserId: string | null;
  /** The device's user, if that is still the placeholder created for this device. */
  readonly ownPlaceholder: string | null;
  readonly certificate: DeviceCertificate;
  readonly caCertificatePem: string;
}

/**
 * The same failure for unknown, foreign, expired, revoked and used tokens, so that it reveals nothing about existing
 * tokens.
 */
export const INVALID_TOKEN = unauthenticated('invalid_enrollment_token');
/**
 * Another request enrolled or deleted the device with this fingerprint at the same time. The caller should look up the
 * device again and retry.
 */
export const FINGERPRINT_MOVED = conflict('enrollment_running');
/** Another request enrolled this device since this one arrived. The token stays valid. */
export const ENROLLED_MEANWHILE = conflict('enrollment_running');

type Ports = WithAggregates & WithClaimHolder & WithFreeNumbers & WithCertificates & WithAccountDigest;

/**
 * A browser exchanges its token for a certificate. One append uses the token, enrolls the device, names its certificate
 * and claims the token's single use. So a crash leaves all or nothing, and only one of several concurrent uses
 * succeeds. The certificate is issued before, so that nothing can fail after the append.
 *
 * The device's owner follows from what is proved (`src/contexts/devices/domain/reenrollment.ts`), never from the
 * fingerprint alone.
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
    if (
      isUsedUp(usedBy, deviceStream(tenantId, input.deviceId), isReturned(known, tokenId)) ||
      !licensed ||
      !isRedeemable(issued, tokenDigest, now)
    )
      return INVALID_TOKEN;
    const { userId: boundUserId } = issued;
    if (boundUserId !== null && !isEmployed(await aggregates.load(employee, employeeStream(tenantId, boundUserId))))
      return INVALID_TOKEN;
    const { certificateSerial } = input;
    const standing = enrollmentKindOf(known, { userId: boundUserId, certificateSerial, tokenId }, now);
    if (standing === 'revoked') return DEVICE_REVOKED;
    if (!owner.authority) return unavailable('certificate_authority_missing');
    const ownPlaceholder = await ownPlaceholderOf(tenantId, input.deviceId, known.userId, ports);
    const needsPlaceholder = boundUserId === null && ownPlaceholder === null && standing !== 'same';
    // If no seat is free for a placeholder, the token stays valid until there is one (choice OP-054).
    const admission = needsPlaceholder
      ? await admitEmployee(tenantId, placeholderEmail(input.deviceId), ports)
      : undefined;
    if (isFailure(admission)) return admission;
    const certificate = await certificates.issue(tenantId, owner.authority, input, now);
    if (isFailure(certificate)) return certificate;
    const facts: Facts = {
      tokenId,
      boundUserId,
      ownPlaceholder,
      certificate,
      caCertificatePem: owner.authority.certificatePem,
    };
    return facts;
  },
  decide(state, input, { id, now }, { tokenId, boundUserId, ownPlaceholder, certificate, caCertificatePem }: Facts) {
    const { deviceId, besideDeviceId, certificateSerial, device: described } = input;
    const standing = enrollmentKindOf(state, { userId: boundUserId, certificateSerial, tokenId }, now);
    if (standing === 'revoked') return DEVICE_REVOKED;
    if (standing === 'deleted' || standing === 'unproven') return FINGERPRINT_MOVED;
    if (input.expectedSerial !== undefined && input.expectedSerial !== latestSerial(state)) return ENROLLED_MEANWHILE;
    // The browser's user is unknown: until an administrator names one, it belongs to a placeholder (interface, "Device
    // enrollment result").
    const userId =
      standing === 'same'
        ? state.userId
        : (boundUserId ?? (ownPlaceholder === state.userId ? ownPlaceholder : null) ?? id);
    const expiresAt = new Date(certificate.notAfter).toISOString();
    const enrolled: Enrolled = {
      ...described,
      deviceId,
      userId,
      besideDeviceId,
      // A token bound to nobody does not prove whose computer it is, so it confirms no device that keeps its user.
      isConfirmed: standing !== 'same' || boundUserId !== null || state.isConfirmed,
      wipeId: state.wipe?.id ?? null,
    };
    const moves = claimsThatMove(standing === 'new', state, enrolled);
    return acceptWith(
      { userId, expiresAt, certificate, caCertificatePem },
      [
        { type: 'EnrollmentTokenUsed', data: { tokenId, deviceId } },
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
      ],
      { claim: [useOf(state, tokenId), ...moves.claim], release: moves.release },
    );
  },
  whenClaimed: ({ kind }) => (kind === 'enrollment-token' ? INVALID_TOKEN : FINGERPRINT_MOVED),
  freshens: ['devices', 'enrollment_tokens', 'employees', 'live-state'],
});

/** The claim that one of several requests gets. */
const useOf = (state: DeviceState, tokenId: string): Claim =>
  isReturned(state, tokenId) ? repeatedUse(tokenId, latestSerial(state)) : singleUse(tokenId);

/** A returned token is still that of the device that it enrolled. */
const isUsedUp = (usedBy: string | undefined, own: string, isReturnedHere: boolean): boolean =>
  usedBy !== undefined && !(usedBy === own && isReturnedHere);

/** Returns the device's placeholder user, if it still is one. Any enrollment of the device may keep it. */
async function ownPlaceholderOf(
  tenantId: TenantId,
  deviceId: string,
  userId: string,
  { accountDigest, claimHolder }: Ports,
): Promise<string | null> {
  if (userId === '') return null;
  const holder = await claimHolder(tenantId, employeeEmailClaim(accountDigest(placeholderEmail(deviceId))));
  return holder === employeeStream(tenantId, userId) ? userId : null;
}

/** The claims by which the device is found from now on, and the ones that it releases. */
function claimsThatMove(
  isNew: boolean,
  state: Parameters<typeof fingerprintClaimOf>[0],
  { deviceFingerprint, userId, besideDeviceId }: Enrolled,
) {
  if (isNew)
    return {
      claim: [
        besideDeviceId === null ? fingerprintClaim(deviceFingerprint) : userFingerprintClaim(deviceFingerprint, userId),
      ],
      release: [],
    };
  if (state.holdsFingerprint || state.userId === userId) return { claim: [], release: [] };
  return { claim: [userFingerprintClaim(deviceFingerprint, userId)], release: [fingerprintClaimOf(state)] };
}
