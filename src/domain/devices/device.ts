import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { deviceEvents } from './events.ts';

export interface CertificateState {
  readonly serialNumber: string;
  /** ISO 8601; accepted until then unless the device is revoked. */
  readonly validUntil: string;
}

export interface DeviceState {
  readonly status: 'none' | 'active' | 'wipe_pending' | 'wiped' | 'revoked' | 'deleted';
  readonly userId: string;
  readonly fingerprint: string;
  readonly wipe: { readonly id: string; readonly delivered: boolean } | undefined;
  readonly certificates: readonly CertificateState[];
}

const initial: DeviceState = { status: 'none', userId: '', fingerprint: '', wipe: undefined, certificates: [] };

export const device = defineAggregate<DeviceState, typeof deviceEvents>(deviceEvents, initial, (state, event) => {
  switch (event.type) {
    case 'DeviceEnrolled':
      // A known fingerprint that enrolls again is the same device with a fresh start.
      return { ...initial, status: 'active', userId: event.data.userId, fingerprint: event.data.deviceFingerprint, certificates: state.certificates };
    case 'DeviceCertificateIssued': {
      const { serialNumber, expiresAt, previousValidUntil } = event.data;
      const previous = previousValidUntil
        ? state.certificates.slice(-1).map((certificate) => ({ ...certificate, validUntil: previousValidUntil }))
        : [];
      return { ...state, certificates: [...previous, { serialNumber, validUntil: expiresAt }] };
    }
    case 'DeviceRevoked':
      return { ...state, status: 'revoked', certificates: [] };
    case 'DeviceWipeRequested':
      return { ...state, status: 'wipe_pending', wipe: { id: event.data.wipeId, delivered: false } };
    case 'DeviceWipeDelivered':
      return { ...state, wipe: state.wipe && { ...state.wipe, delivered: true } };
    case 'DeviceWiped':
      return { ...state, status: 'wiped', wipe: undefined, certificates: [] };
    case 'DeviceStaleAlertsSilenced':
      return state;
    case 'DeviceDeleted':
      return { ...state, status: 'deleted', certificates: [] };
  }
});

export const deviceStream = (tenantId: TenantId, deviceId: string): string => streamName('device', tenantId, deviceId);

/** True when a certificate with this serial number may speak for the device now. */
export const acceptsCertificate = ({ status, certificates }: DeviceState, serialNumber: string, now: number): boolean =>
  (status === 'active' || status === 'wipe_pending') &&
  certificates.some((known) => known.serialNumber === serialNumber && Date.parse(known.validUntil) > now);
