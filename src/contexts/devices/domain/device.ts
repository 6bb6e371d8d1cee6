import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { deviceEvents, type browserTypes, type DeviceEvent } from './events.ts';

export interface CertificateState {
  readonly serialNumber: string;
  /** ISO 8601. Accepted until then, unless the device is revoked. */
  readonly validUntil: string;
  /** SHA-256 hex of the public key. Null: issued before keys were recorded, and not presented since. */
  readonly publicKeySha256: string | null;
}

/** The verified properties of a presented certificate. */
export interface ShownCertificate {
  readonly serialNumber: string;
  readonly publicKeySha256: string;
}

export interface CompletedWipe {
  readonly id: string;
  readonly certificates: readonly CertificateState[];
}

export interface DeviceState {
  /** `deleted` is final: if the same browser enrolls again, it becomes another device. */
  readonly status: 'none' | 'active' | 'wipe_pending' | 'wiped' | 'revoked' | 'deleted';
  /** Empty before the first enrollment and after the user was deleted. */
  readonly userId: string;
  readonly fingerprint: string;
  /** Null if the enrollment did not name one. */
  readonly browserType: (typeof browserTypes)[number] | null;
  readonly wipe: { readonly id: string; readonly delivered: boolean } | undefined;
  readonly certificates: readonly CertificateState[];
  /** A completed wipe, and the certificates that it ended: with one of them, the device may confirm the wipe again. */
  readonly completedWipe: CompletedWipe | undefined;
  /** SHA-256 hex of the key that an agent may present instead of a certificate. */
  readonly accessKeyDigest: string | undefined;
  /** False: another device holds the claim on this fingerprint. */
  readonly holdsFingerprint: boolean;
  /** False: no administrator has confirmed the device's user, so it gets no verification codes. */
  readonly isConfirmed: boolean;
  /** An administrator allows the revoked device to enroll once more. */
  readonly mayReenroll: boolean;
  /** The token of the enrollment that is being recorded; undefined afterwards. */
  readonly presentedToken: string | undefined;
  /** The token of the latest enrollment; undefined: it needed none. */
  readonly enrolledWith: string | undefined;
  /** The same token, if nobody holds the certificate that it got: it enrolls this device once more. */
  readonly returnedToken: string | undefined;
}

const initial: DeviceState = {
  status: 'none',
  userId: '',
  fingerprint: '',
  browserType: null,
  wipe: undefined,
  certificates: [],
  completedWipe: undefined,
  accessKeyDigest: undefined,
  holdsFingerprint: false,
  isConfirmed: false,
  mayReenroll: false,
  presentedToken: undefined,
  enrolledWith: undefined,
  returnedToken: undefined,
};
const cutOff = {
  certificates: [],
  completedWipe: undefined,
  accessKeyDigest: undefined,
  returnedToken: undefined,
} as const;

/** Former certificates that stay valid for a while: the oldest, and the newest of the others. */
const KEPT = 4;
const OVERLAP_MS = 86_400_000;
/** Times are ISO 8601 in UTC, so text order is chronological order. */
const endedBy = (certificate: CertificateState, end: string): CertificateState => ({
  ...certificate,
  validUntil: certificate.validUntil < end ? certificate.validUntil : end,
});

type Data<Type extends DeviceEvent['type']> = Extract<DeviceEvent, { type: Type }>['data'];

/** Re-enrollment resets the device, except for a pending wipe. */
function enrolled(state: DeviceState, data: Data<'DeviceEnrolled'>): DeviceState {
  const { userId, deviceFingerprint: fingerprint, browserType, isConfirmed, wipeId, besideDeviceId } = data;
  return {
    ...initial,
    ...(wipeId === null ? { status: 'active' } : { status: 'wipe_pending', wipe: { id: wipeId, delivered: false } }),
    userId,
    fingerprint,
    browserType,
    isConfirmed,
    holdsFingerprint: state.status === 'none' ? besideDeviceId === null : state.holdsFingerprint,
    certificates: state.certificates,
    enrolledWith: state.presentedToken,
  };
}

const certificateOf = ({
  serialNumber,
  expiresAt,
  publicKeySha256,
}: Data<'DeviceCertificateIssued'>): CertificateState => ({
  serialNumber,
  validUntil: expiresAt,
  publicKeySha256,
});

/**
 * The earlier certificates after a renewal: each ends, and only some are kept. A device that loses responses renews
 * repeatedly with its old certificate, which is the only one that it certainly has. So the oldest valid one is kept.
 */
function endedByIssue(
  { certificates }: DeviceState,
  { previousValidUntil }: Data<'DeviceCertificateIssued'>,
): CertificateState[] {
  if (!previousValidUntil) return [];
  const issuedAt = new Date(Date.parse(previousValidUntil) - OVERLAP_MS).toISOString();
  const [oldest, ...others] = certificates.filter(({ validUntil }) => validUntil > issuedAt);
  return oldest ? [oldest, ...others.slice(1 - KEPT)].map((known) => endedBy(known, previousValidUntil)) : [];
}

const pinned = (
  known: CertificateState,
  { serialNumber, publicKeySha256 }: Data<'DeviceCertificatePinned'>,
): CertificateState => (known.serialNumber === serialNumber ? { ...known, publicKeySha256 } : known);

const revoked = (state: DeviceState, { reason }: Data<'DeviceRevoked'>): DeviceState => ({
  ...state,
  ...cutOff,
  userId: reason === 'user_deleted' ? '' : state.userId,
  mayReenroll: false,
  status: state.status === 'wiped' ? 'wiped' : 'revoked',
});

const wiped = (state: DeviceState): DeviceState => ({
  ...state,
  ...cutOff,
  status: 'wiped',
  wipe: undefined,
  completedWipe: state.wipe && { id: state.wipe.id, certificates: state.certificates },
});

type TokenEvent = Extract<DeviceEvent, { type: 'EnrollmentTokenUsed' | 'EnrollmentTokenReturned' }>;

const withToken = (state: DeviceState, { type, data: { tokenId } }: TokenEvent): DeviceState =>
  type === 'EnrollmentTokenUsed' ? { ...state, presentedToken: tokenId } : { ...state, returnedToken: tokenId };

function changed(state: DeviceState, event: Exclude<DeviceEvent, TokenEvent>): DeviceState {
  switch (event.type) {
    case 'DeviceEnrolled':
      return enrolled(state, event.data);
    case 'DeviceReenrollmentAllowed':
      return { ...state, mayReenroll: true };
    case 'DeviceEnrollmentConfirmed':
      return { ...state, isConfirmed: true };
    case 'DeviceCertificateIssued':
      return { ...state, certificates: [...endedByIssue(state, event.data), certificateOf(event.data)] };
    case 'DeviceCertificatePinned':
      return { ...state, certificates: state.certificates.map((known) => pinned(known, event.data)) };
    case 'DeviceAccessKeyIssued':
      return { ...state, accessKeyDigest: event.data.accessKeyDigest };
    case 'DeviceRevoked':
      return revoked(state, event.data);
    case 'DeviceWipeRequested':
      return { ...state, status: 'wipe_pending', wipe: { id: event.data.wipeId, delivered: false } };
    case 'DeviceWipeDelivered':
      return { ...state, wipe: state.wipe && { ...state.wipe, delivered: true } };
    case 'DeviceWiped':
      return wiped(state);
    case 'DeviceDeleted':
      return { ...state, ...cutOff, status: 'deleted' };
    case 'DeviceStaleAlertsSilenced':
      return state;
  }
}

export const device = defineAggregate<DeviceState, typeof deviceEvents>(deviceEvents, initial, (state, event) =>
  event.type === 'EnrollmentTokenUsed' || event.type === 'EnrollmentTokenReturned'
    ? withToken(state, event)
    : changed(state, event),
);

/**
 * The first device that enrolls with a fingerprint claims it. A fingerprint is not a secret: the claim proves nothing.
 */
export const fingerprintClaim = (fingerprint: string): Claim => ({ kind: 'device-fingerprint', value: fingerprint });

/** Claim of a device whose fingerprint another device has claimed. Fingerprint and user together find it again. */
export const userFingerprintClaim = (fingerprint: string, userId: string): Claim => ({
  kind: 'device-user-fingerprint',
  value: `${userId}|${fingerprint}`,
});

/** The claim of a device; released when the device is deleted. */
export const fingerprintClaimOf = ({
  holdsFingerprint,
  fingerprint,
  userId,
}: Pick<DeviceState, 'holdsFingerprint' | 'fingerprint' | 'userId'>): Claim =>
  holdsFingerprint ? fingerprintClaim(fingerprint) : userFingerprintClaim(fingerprint, userId);

export const deviceStream = (tenantId: TenantId, deviceId: string): string => streamName('device', tenantId, deviceId);

/**
 * The certificate with this serial number, if the device may use it now. Does not check the key of the presented
 * certificate.
 */
export const heldCertificate = (
  { status, certificates }: DeviceState,
  serialNumber: string,
  now: number,
): CertificateState | undefined =>
  status === 'active' || status === 'wipe_pending'
    ? certificates.find((known) => known.serialNumber === serialNumber && Date.parse(known.validUntil) > now)
    : undefined;

/**
 * True if exactly this certificate may authenticate the device now. The serial number alone is not enough: former
 * authorities of the tenant stay trusted until their certificates expire, so the holder of such an authority's key
 * could forge it.
 */
export const acceptsCertificate = (
  state: DeviceState,
  { serialNumber, publicKeySha256 }: ShownCertificate,
  now: number,
): boolean => heldCertificate(state, serialNumber, now)?.publicKeySha256 === publicKeySha256;

/** Serial number of the certificate that was issued last; null: none, or all were ended. */
export const latestSerial = ({ certificates }: DeviceState): string | null => certificates.at(-1)?.serialNumber ?? null;

/** True if this certificate was ended by the wipe that the device completed, and would still be valid otherwise. */
export const isEndedByWipe = (
  { status, completedWipe }: DeviceState,
  { serialNumber, publicKeySha256 }: ShownCertificate,
  now: number,
): boolean =>
  status === 'wiped' &&
  (completedWipe?.certificates ?? []).some(
    (known) =>
      known.serialNumber === serialNumber &&
      known.publicKeySha256 === publicKeySha256 &&
      Date.parse(known.validUntil) > now,
  );

/** The wipe that the device may report as completed, also repeatedly. */
export const wipeIdOf = ({ wipe, completedWipe }: DeviceState): string | undefined => (wipe ?? completedWipe)?.id;

/** True if this key may authenticate the device now. `isIt` compares its digest in constant time. */
export const acceptsAccessKey = (
  { status, accessKeyDigest }: DeviceState,
  isIt: (digest: string) => boolean,
): boolean =>
  (status === 'active' || status === 'wipe_pending') && accessKeyDigest !== undefined && isIt(accessKeyDigest);
