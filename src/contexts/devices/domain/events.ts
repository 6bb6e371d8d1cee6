import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';

export const browserTypes = ['chrome', 'edge', 'firefox', 'safari'] as const;
export const osTypes = ['windows', 'macos', 'linux', 'chromeos'] as const;
export const deviceRevocationReasons = ['revoked', 'deleted', 'wiped', 'user_deleted', 'user_left'] as const;
export type DeviceRevocationReason = (typeof deviceRevocationReasons)[number];

const browserSchema = z.enum(browserTypes);
const osSchema = z.enum(osTypes);

/** A device's own stream: enrollment, certificates and end of life. Heartbeats are telemetry and not recorded here. */
export const deviceEvents = defineEvents('device', {
  /** The use of a token is appended together with the enrollment of the device: neither can happen alone. */
  EnrollmentTokenUsed: {
    version: 1,
    schema: z.object({ tokenId: uuid(), deviceId: uuid() }),
    about: { resource: 'enrollmentToken', id: 'tokenId' },
    audit: 'enrollment_token.used',
  },
  /** The response with the certificate was lost to an outage: until this device has another one, the token counts again for it. */
  EnrollmentTokenReturned: {
    version: 1,
    schema: z.object({ tokenId: uuid(), deviceId: uuid() }),
    about: { resource: 'enrollmentToken', id: 'tokenId' },
    audit: 'enrollment_token.returned',
  },
  DeviceEnrolled: {
    version: 2,
    schema: z.object({
      /**
       * The existing device with this fingerprint. It was left unchanged, because nothing proved that this browser is
       * that device.
       */
      besideDeviceId: uuid().nullable(),
      /** False: an agent enrolled with the fleet's secret, and no administrator has confirmed the computer's user. */
      isConfirmed: z.boolean(),
      /** A wipe that was requested before and is still pending: enrolling does not cancel it. */
      wipeId: uuid().nullable(),
      deviceId: uuid(),
      userId: uuid(),
      deviceFingerprint: z.string(),
      browserType: browserSchema.nullable(),
      browserVersion: z.string().nullable(),
      osType: osSchema.nullable(),
      osVersion: z.string().nullable(),
      extensionVersion: z.string().nullable(),
      hostname: z.string().nullable(),
      agentVersion: z.string().nullable(),
    }),
    // Version 1: re-enrolling took over the record and ended a wipe. Only agents have no browser; nothing proved their
    // user.
    upcasters: {
      1: (data: { browserType: string | null }) => ({
        besideDeviceId: null,
        isConfirmed: data.browserType !== null,
        wipeId: null,
        ...data,
      }),
    },
    personal: { subject: 'userId', fields: ['deviceFingerprint', 'hostname'] },
    audit: 'device.enrolled',
  },
  /** An administrator allows a revoked device to enroll once more. */
  DeviceReenrollmentAllowed: {
    version: 1,
    schema: z.object({ deviceId: uuid() }),
    audit: 'device.reenrollment_allowed',
  },
  /** An administrator confirms that the device belongs to its user. */
  DeviceEnrollmentConfirmed: {
    version: 1,
    schema: z.object({ deviceId: uuid() }),
    audit: 'device.enrollment_confirmed',
  },
  /** A certificate replaces the previous one: at once (re-enrollment) or after an overlap (renewal). */
  DeviceCertificateIssued: {
    version: 2,
    schema: z.object({
      /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. Null before version 2. */
      publicKeySha256: z.string().nullable(),
      deviceId: uuid(),
      serialNumber: z.string(),
      expiresAt: z.iso.datetime(),
      /** The previous certificate stays valid until then; null: it ends now. */
      previousValidUntil: z.iso.datetime().nullable(),
    }),
    upcasters: { 1: (data: object) => ({ publicKeySha256: null, ...data }) },
    audit: 'device.certificate_issued',
  },
  /**
   * A certificate from before public keys were recorded was presented for the first time since; its key is now
   * recorded.
   */
  DeviceCertificatePinned: {
    version: 1,
    schema: z.object({ deviceId: uuid(), serialNumber: z.string(), publicKeySha256: z.string() }),
    audit: 'device.certificate_pinned',
  },
  /**
   * An agent that enrolled by itself may present this key instead of a certificate. SHA-256 of the key, lower-case hex.
   */
  DeviceAccessKeyIssued: {
    version: 1,
    schema: z.object({ deviceId: uuid(), accessKeyDigest: z.string() }),
    audit: 'device.access_key_issued',
  },
  DeviceRevoked: {
    version: 1,
    schema: z.object({ deviceId: uuid(), reason: z.enum(deviceRevocationReasons) }),
    audit: 'device.revoked',
  },
  DeviceWipeRequested: {
    version: 1,
    schema: z.object({ deviceId: uuid(), wipeId: uuid() }),
    audit: 'device.wipe_requested',
  },
  DeviceWipeDelivered: {
    version: 1,
    schema: z.object({ deviceId: uuid(), wipeId: uuid() }),
    audit: 'device.wipe_delivered',
  },
  DeviceWiped: { version: 1, schema: z.object({ deviceId: uuid() }), audit: 'device.wiped' },
  DeviceStaleAlertsSilenced: {
    version: 1,
    schema: z.object({ deviceId: uuid(), silenced: z.boolean(), until: z.iso.datetime().nullable() }),
    audit: 'device.stale_alerts_silenced',
  },
  DeviceDeleted: { version: 1, schema: z.object({ deviceId: uuid() }), audit: 'device.deleted' },
});
export type DeviceEvent = EventOf<typeof deviceEvents>;
