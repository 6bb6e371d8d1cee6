import { z } from 'zod';
import type { DeviceRow } from '../../projections/devices/devices.ts';
import { browserTypes, osTypes } from '../../src/contexts/devices/domain/events.ts';
import { deviceStatuses, type DeviceStatus } from '../../src/contexts/devices/domain/vocabulary.ts';
import { tenantSettings } from '../../src/contexts/settings/domain/tenant-settings.resource.ts';

const when = z.iso.datetime().nullable();
const version = z.string().nullable();

/** A device as the interface shows it (choice OP-097). */
export const deviceView = z
  .object({
    id: z.uuid(),
    userId: z.uuid(),
    userEmail: z.string().nullable(),
    deviceFingerprint: z.string(),
    hostname: z.string().nullable(),
    browserType: z.enum(browserTypes).nullable(),
    browserVersion: version,
    osType: z.enum(osTypes).nullable(),
    osVersion: version,
    extensionVersion: version,
    agentVersion: version,
    status: z.enum(deviceStatuses),
    certificateSerial: z.string().nullable(),
    certificateExpiresAt: when,
    enrolledAt: z.iso.datetime(),
    lastSeenAt: when,
    wipeRequestedAt: when,
    wipeDeliveredAt: when,
    wipedAt: when,
    revokedAt: when,
    staleAlertsSilenced: z.boolean(),
    staleAlertsSilencedUntil: when,
    /** The user is inactive: requests of the device are refused until the user is active again. */
    suspended: z.boolean(),
    /**
     * The device that already had this fingerprint. Nothing proved that this browser is that device, so it got its own
     * record.
     */
    besideDeviceId: z.uuid().nullable(),
    /** False: an agent enrolled by itself. It gets no verification codes until an administrator confirms it. */
    enrollmentConfirmed: z.boolean(),
    /** The device is revoked and may enroll once more. */
    reenrollmentAllowed: z.boolean(),
    /** Batches that the device counted but that never arrived, as ranges of its own numbers. */
    telemetry: z.object({
      lastSequence: z.int().nullable(),
      missingBatches: z.int(),
      missing: z.array(z.tuple([z.int(), z.int()])),
    }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'Device' });
export type DeviceView = z.output<typeof deviceView>;

export interface DeviceWithDetails extends DeviceRow {
  readonly user_email: string | null;
  readonly status_now: DeviceStatus;
  readonly silenced_now: boolean;
  readonly suspended_now: boolean;
  readonly last_sequence: number | null;
  readonly missing_batches: number | null;
  readonly missing: readonly (readonly [number, number])[] | null;
}

const DAYS_UNLESS_SET = tenantSettings.aggregate.initial.values.staleDeviceDays;
const STALE_DAYS = `coalesce((select s.stale_device_days from tenant_settings s where s.tenant_id = $1), ${DAYS_UNLESS_SET})`;

/** Whether an active device has stopped reporting. The alias of `devices` is `d`. */
export const IS_STALE = `d.status = 'active' and greatest(d.last_seen_at, d.enrolled_at) < now() - ${STALE_DAYS} * interval '1 day'`;

/** `devices` with the current status and without expired silences. */
export const SELECT_DEVICES = `(
  select d.*, e.email as user_email, s.last_sequence, s.missing_batches, s.missing,
         case when ${IS_STALE} then 'stale' else d.status end as status_now,
         d.stale_alerts_silenced and coalesce(d.stale_alerts_silenced_until > now(), true) as silenced_now,
         coalesce(not e.is_active, false) as suspended_now
    from devices d
    left join employees e on e.tenant_id = d.tenant_id and e.user_id = d.user_id
    left join device_sequences s on s.tenant_id = d.tenant_id and s.device_id = d.device_id
   where d.tenant_id = $1)`;

export const toDeviceView = (row: DeviceWithDetails): DeviceView => ({
  id: row.device_id,
  userId: row.user_id,
  userEmail: row.user_email,
  deviceFingerprint: row.device_fingerprint,
  hostname: row.hostname,
  browserType: row.browser_type,
  browserVersion: row.browser_version,
  osType: row.os_type,
  osVersion: row.os_version,
  extensionVersion: row.extension_version,
  agentVersion: row.agent_version,
  status: row.status_now,
  certificateSerial: row.certificate_serial,
  certificateExpiresAt: row.certificate_expires_at,
  enrolledAt: row.enrolled_at,
  lastSeenAt: row.last_seen_at,
  wipeRequestedAt: row.wipe_requested_at,
  wipeDeliveredAt: row.wipe_delivered_at,
  wipedAt: row.wiped_at,
  revokedAt: row.revoked_at,
  staleAlertsSilenced: row.silenced_now,
  staleAlertsSilencedUntil: row.silenced_now ? row.stale_alerts_silenced_until : null,
  suspended: row.suspended_now,
  besideDeviceId: row.beside_device_id,
  enrollmentConfirmed: row.enrollment_confirmed,
  reenrollmentAllowed: row.reenrollment_allowed,
  telemetry: {
    lastSequence: row.last_sequence,
    missingBatches: row.missing_batches ?? 0,
    missing: (row.missing ?? []).map(([first, last]): [number, number] => [first, last]),
  },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
