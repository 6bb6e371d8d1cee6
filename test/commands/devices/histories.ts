import type { DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import { NOW } from '../../dsl/given.ts';

export const DEVICE = '44444444-4444-4444-8444-444444444444';
export const USER = '55555555-5555-4555-8555-555555555555';
export const DAY = 86_400_000;
export const inDays = (days: number): string => new Date(NOW + days * DAY).toISOString();

/** What an extension reports about its browser when it enrolls. */
export const browser = {
  deviceFingerprint: 'fp-1',
  browserType: 'chrome',
  browserVersion: '131.0',
  osType: 'linux',
  osVersion: '6.1',
  extensionVersion: '2.0.0',
  hostname: null,
  agentVersion: null,
} as const;

/** An enrollment without predecessor. */
export const first = { besideDeviceId: null, isConfirmed: true, wipeId: null } as const;
export const enrolled: DeviceEvent = {
  type: 'DeviceEnrolled',
  data: { ...first, ...browser, deviceId: DEVICE, userId: USER },
};
/** A stand-in for the hash of the key of the certificate with this serial number. */
export const keyOf = (serialNumber: string): string => `key of ${serialNumber}`;
export const certified = (
  serialNumber = 'AA01',
  expiresAt = inDays(365),
  previousValidUntil: string | null = null,
): DeviceEvent => ({
  type: 'DeviceCertificateIssued',
  data: { deviceId: DEVICE, serialNumber, publicKeySha256: keyOf(serialNumber), expiresAt, previousValidUntil },
});
export const revoked: DeviceEvent = { type: 'DeviceRevoked', data: { deviceId: DEVICE, reason: 'revoked' } };
export const wipeRequested: DeviceEvent = {
  type: 'DeviceWipeRequested',
  data: { deviceId: DEVICE, wipeId: '66666666-6666-4666-8666-666666666666' },
};
export const wiped: DeviceEvent = { type: 'DeviceWiped', data: { deviceId: DEVICE } };
export const deleted: DeviceEvent = { type: 'DeviceDeleted', data: { deviceId: DEVICE } };
