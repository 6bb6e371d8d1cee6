import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { Claim } from '../../kernel/command.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { deviceEvents, type browserTypes } from './events.ts';

export interface CertificateState {
  readonly serialNumber: string;
  /** ISO 8601; accepted until then unless the device is revoked. */
  readonly validUntil: string;
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
}

const initial: DeviceState = { status: 'none', userId: '', fingerprint: '', browserType: null, wipe: undefined, certificates: [], accessKeyDigest: undefined };
const cutOff = { certificates: [], accessKeyDigest: undefined } as const;

/** A device that never got the answer renews again with the certificate it has; more often than this it enrolls anew. */
const KEPT = 4;
/** ISO 8601 in UTC, so that text order is the order of time. */
const endedBy = ({ serialNumber, validUntil }: CertificateState, end: string): CertificateState => ({
  serialNumber,
  validUntil: validUntil < end ? validUntil : end,
});

export const device = defineAggregate<DeviceState, typeof deviceEvents>(deviceEvents, initial, (state, event) => {
  switch (event.type) {
    case 'EnrollmentTokenUsed':
      return state;
    case 'DeviceEnrolled':
      // A known fingerprint that enrolls again is the same device with a fresh start.
      return { ...initial, status: 'active', userId: event.data.userId, fingerprint: event.data.deviceFingerprint, browserType: event.data.browserType, certificates: state.certificates };
    case 'DeviceCertificateIssued': {
      const { serialNumber, expiresAt, previousValidUntil } = event.data;
      const previous = previousValidUntil ? state.certificates.slice(-KEPT).map((known) => endedBy(known, previousValidUntil)) : [];
      return { ...state, certificates: [...previous, { serialNumber, validUntil: expiresAt }] };
    }
    case 'DeviceAccessKeyIssued':
      return { ...state, accessKeyDigest: event.data.accessKeyDigest };
    case 'DeviceRevoked': {
      const userId = event.data.reason === 'user_deleted' ? '' : state.userId;
      return { ...state, ...cutOff, userId, status: state.status === 'wiped' ? 'wiped' : 'revoked' };
    }
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

/** One browser profile is one device of a tenant, however often it enrolls (choice OP-174). */
export const fingerprintClaim = (fingerprint: string): Claim => ({ kind: 'device-fingerprint', value: fingerprint });

export const deviceStream = (tenantId: TenantId, deviceId: string): string => streamName('device', tenantId, deviceId);

/** True when a certificate with this serial number may speak for the device now. */
export const acceptsCertificate = ({ status, certificates }: DeviceState, serialNumber: string, now: number): boolean =>
  (status === 'active' || status === 'wipe_pending') &&
  certificates.some((known) => known.serialNumber === serialNumber && Date.parse(known.validUntil) > now);

/** True when this key may speak for the device now; `isIt` compares its digest in constant time. */
export const acceptsAccessKey = ({ status, accessKeyDigest }: DeviceState, isIt: (digest: string) => boolean): boolean =>
  (status === 'active' || status === 'wipe_pending') && accessKeyDigest !== undefined && isIt(accessKeyDigest);
