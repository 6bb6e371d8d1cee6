import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { deviceEvents, type browserTypes, type DeviceEvent } from './events.ts';

export interface CertificateState {
  readonly serialNumber: string;
  /** ISO 8601; accepted until then unless the device is revoked. */
  readonly validUntil: string;
  /** SHA-256 hex of the public key. Null: issued before it was recorded, and not shown since. */
  readonly publicKeySha256: string | null;
}

/** What was proved of a certificate that somebody shows. */
export interface ShownCertificate {
  readonly serialNumber: string;
  readonly publicKeySha256: string;
}

export interface DeviceState {
  /** `deleted` is final: the same browser that enrolls again then is another device. */
  readonly status: 'none' | 'active' | 'wipe_pending' | 'wiped' | 'revoked' | 'deleted';
  /** Empty before the first enrollment and after the user was deleted. */
  readonly userId: string;
  readonly fingerprint: string;
  /** Null where the enrollment did not say. */
  readonly browserType: (typeof browserTypes)[number] | null;
  readonly wipe: { readonly id: string; readonly delivered: boolean } | undefined;
  readonly certificates: readonly CertificateState[];
  /** SHA-256 hex of the key that an agent may show instead of a certificate. */
  readonly accessKeyDigest: string | undefined;
  /** False: another device holds the claim on this fingerprint. */
  readonly holdsFingerprint: boolean;
  /** False: nobody has confirmed that it is its user's device, so it gets no verification codes. */
  readonly isConfirmed: boolean;
  /** An administrator lets it enroll once more, though it is revoked. */
  readonly mayReenroll: boolean;
}

const initial: DeviceState = {
  status: 'none',
  userId: '',
  fingerprint: '',
  browserType: null,
  wipe: undefined,
  certificates: [],
  accessKeyDigest: undefined,
  holdsFingerprint: false,
  isConfirmed: false,
  mayReenroll: false,
};
const cutOff = { certificates: [], accessKeyDigest: undefined } as const;

/** A device that never got the answer renews again with the certificate it has; more often than this it enrolls anew. */
const KEPT = 4;
/** ISO 8601 in UTC, so that text order is the order of time. */
const endedBy = (certificate: CertificateState, end: string): CertificateState => ({
  ...certificate,
  validUntil: certificate.validUntil < end ? certificate.validUntil : end,
});

type Data<Type extends DeviceEvent['type']> = Extract<DeviceEvent, { type: Type }>['data'];

/** Enrolling again is a fresh start of the same device, except for a wipe that is still pending. */
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

/** What a renewal leaves of the certificates before it: they end, and only the newest are kept. */
const endedByIssue = (
  { certificates }: DeviceState,
  { previousValidUntil }: Data<'DeviceCertificateIssued'>,
): CertificateState[] =>
  previousValidUntil ? certificates.slice(-KEPT).map((known) => endedBy(known, previousValidUntil)) : [];

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

export const device = defineAggregate<DeviceState, typeof deviceEvents>(deviceEvents, initial, (state, event) => {
  switch (event.type) {
    case 'EnrollmentTokenUsed':
      return state;
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
      return { ...state, ...cutOff, status: 'wiped', wipe: undefined };
    case 'DeviceStaleAlertsSilenced':
      return state;
    case 'DeviceDeleted':
      return { ...state, ...cutOff, status: 'deleted' };
  }
});

/** The first device that enrolls with a fingerprint holds it. A fingerprint is no secret: holding it proves nothing. */
export const fingerprintClaim = (fingerprint: string): Claim => ({ kind: 'device-fingerprint', value: fingerprint });

/** Held by a device whose fingerprint another device holds: it is found again by its fingerprint and its user together. */
export const userFingerprintClaim = (fingerprint: string, userId: string): Claim => ({
  kind: 'device-user-fingerprint',
  value: `${userId}|${fingerprint}`,
});

/** What a device holds, and releases when it is deleted. */
export const fingerprintClaimOf = ({
  holdsFingerprint,
  fingerprint,
  userId,
}: Pick<DeviceState, 'holdsFingerprint' | 'fingerprint' | 'userId'>): Claim =>
  holdsFingerprint ? fingerprintClaim(fingerprint) : userFingerprintClaim(fingerprint, userId);

export const deviceStream = (tenantId: TenantId, deviceId: string): string => streamName('device', tenantId, deviceId);

/** The certificate with this serial number, if the device may use it now. It says nothing of the key that was shown with it. */
export const heldCertificate = (
  { status, certificates }: DeviceState,
  serialNumber: string,
  now: number,
): CertificateState | undefined =>
  status === 'active' || status === 'wipe_pending'
    ? certificates.find((known) => known.serialNumber === serialNumber && Date.parse(known.validUntil) > now)
    : undefined;

/**
 * True when this very certificate may speak for the device now. The serial number alone would let anybody in who has the key of
 * an authority that the tenant once had, because such authorities vouch for their certificates until these expire.
 */
export const acceptsCertificate = (
  state: DeviceState,
  { serialNumber, publicKeySha256 }: ShownCertificate,
  now: number,
): boolean => heldCertificate(state, serialNumber, now)?.publicKeySha256 === publicKeySha256;

/** True when this key may speak for the device now; `isIt` compares its digest in constant time. */
export const acceptsAccessKey = (
  { status, accessKeyDigest }: DeviceState,
  isIt: (digest: string) => boolean,
): boolean =>
  (status === 'active' || status === 'wipe_pending') && accessKeyDigest !== undefined && isIt(accessKeyDigest);
