import { deviceEvents, type browserTypes, type osTypes } from '../../src/contexts/devices/domain/events.ts';
import type { DeviceStatus } from '../../src/contexts/devices/domain/vocabulary.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { ERASED } from '../../src/platform/kernel/event.ts';
import {
  at,
  changeExisting,
  defineReadModel,
  flag,
  id,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  device_id: id,
  user_id: id,
  device_fingerprint: text,
  hostname: nullable(text),
  browser_type: nullable(text as Column<(typeof browserTypes)[number]>),
  browser_version: nullable(text),
  os_type: nullable(text as Column<(typeof osTypes)[number]>),
  os_version: nullable(text),
  extension_version: nullable(text),
  agent_version: nullable(text),
  /** Never `stale`: that depends on the current time, so queries compute it from `last_seen_at`. */
  status: text as Column<Exclude<DeviceStatus, 'stale'>>,
  certificate_serial: nullable(text),
  certificate_expires_at: nullable(timestamp),
  enrolled_at: timestamp,
  /** Time of the last heartbeat after the enrollment. Null: none yet. */
  last_seen_at: nullable(timestamp),
  /** The policy version that the extension reported. */
  policy_version: nullable(text),
  wipe_requested_at: nullable(timestamp),
  /** Time of the first delivery to the device. */
  wipe_delivered_at: nullable(timestamp),
  wiped_at: nullable(timestamp),
  revoked_at: nullable(timestamp),
  stale_alerts_silenced: flag,
  stale_alerts_silenced_until: nullable(timestamp),
  /** The other device that already had this fingerprint. */
  beside_device_id: nullable(id),
  enrollment_confirmed: flag,
  reenrollment_allowed: flag,
  created_at: timestamp,
  updated_at: timestamp,
};
export type DeviceRow = Row<{ columns: typeof columns }>;

const change = changeExisting<DeviceRow>()('device_id');

/** The columns that a re-enrollment keeps. */
const keptByEnrolling = (row: DeviceRow | undefined, enrolledAt: string) => ({
  last_seen_at: row?.last_seen_at ?? null,
  stale_alerts_silenced: row?.stale_alerts_silenced ?? false,
  stale_alerts_silenced_until: row?.stale_alerts_silenced_until ?? null,
  created_at: row?.created_at ?? enrolledAt,
});

/** A pending wipe survives a re-enrollment and is delivered again. */
const pendingWipe = (row: DeviceRow | undefined, wipeId: string | null) =>
  wipeId === null
    ? ({ status: 'active', wipe_requested_at: null } as const)
    : ({ status: 'wipe_pending', wipe_requested_at: row?.wipe_requested_at ?? null } as const);

/** The devices of `GET /devices` and `GET /devices/{deviceID}`. */
export const devices = defineReadModel({
  name: 'devices',
  version: 3,
  lane: 'main',
  columns,
  key: ['device_id'],
  indexes: [
    ['created_at desc', 'device_id'],
    ['user_id', 'created_at desc'],
    ['status', 'created_at desc'],
  ],
  families: [deviceEvents, telemetryEvents, employeeEvents],
  on: {
    // Re-enrollment resets the device, except for a pending wipe.
    DeviceEnrolled: (event) => ({
      key: { device_id: event.data.deviceId },
      fold: (row) => {
        // The person was erased: there is nothing to show.
        if (event.data.deviceFingerprint === ERASED) return undefined;
        const {
          deviceId,
          userId,
          deviceFingerprint,
          hostname,
          browserType,
          browserVersion,
          osType,
          osVersion,
          extensionVersion,
          agentVersion,
        } = event.data;
        const { wipeId, besideDeviceId, isConfirmed } = event.data;
        return {
          device_id: deviceId,
          user_id: userId,
          device_fingerprint: deviceFingerprint,
          hostname: hostname === ERASED ? null : hostname,
          browser_type: browserType,
          browser_version: browserVersion,
          os_type: osType,
          os_version: osVersion,
          extension_version: extensionVersion,
          agent_version: agentVersion,
          ...pendingWipe(row, wipeId),
          certificate_serial: null,
          certificate_expires_at: null,
          enrolled_at: at(event),
          policy_version: null,
          wipe_delivered_at: null,
          wiped_at: null,
          revoked_at: null,
          beside_device_id: besideDeviceId ?? row?.beside_device_id ?? null,
          enrollment_confirmed: isConfirmed,
          reenrollment_allowed: false,
          ...keptByEnrolling(row, at(event)),
          updated_at: at(event),
        };
      },
    }),
    DeviceCertificateIssued: (event) =>
      change(event.data.deviceId, (row) => ({
        ...row,
        certificate_serial: event.data.serialNumber,
        certificate_expires_at: event.data.expiresAt,
        updated_at: at(event),
      })),
    DeviceReenrollmentAllowed: (event) =>
      change(event.data.deviceId, (row) => ({ ...row, reenrollment_allowed: true, updated_at: at(event) })),
    DeviceEnrollmentConfirmed: (event) =>
      change(event.data.deviceId, (row) => ({ ...row, enrollment_confirmed: true, updated_at: at(event) })),
    DeviceRevoked: (event) =>
      change(event.data.deviceId, (row) => ({
        ...row,
        status: row.status === 'wiped' ? 'wiped' : 'revoked',
        // The computer's name is removed with the person, so that live and rebuilt rows agree.
        hostname: event.data.reason === 'user_deleted' ? null : row.hostname,
        revoked_at: row.revoked_at ?? at(event),
        reenrollment_allowed: false,
        updated_at: at(event),
      })),
    DeviceWipeRequested: (event) =>
      change(event.data.deviceId, (row) => ({
        ...row,
        status: 'wipe_pending',
        wipe_requested_at: at(event),
        wipe_delivered_at: null,
        updated_at: at(event),
      })),
    DeviceWipeDelivered: (event) =>
      change(event.data.deviceId, (row) => ({ ...row, wipe_delivered_at: at(event), updated_at: at(event) })),
    DeviceWiped: (event) =>
      change(event.data.deviceId, (row) => ({
        ...row,
        status: 'wiped',
        wiped_at: at(event),
        revoked_at: row.revoked_at ?? at(event),
        updated_at: at(event),
      })),
    DeviceStaleAlertsSilenced: (event) =>
      change(event.data.deviceId, (row) => ({
        ...row,
        stale_alerts_silenced: event.data.silenced,
        stale_alerts_silenced_until: event.data.until,
        updated_at: at(event),
      })),
    // Server time, never moving backwards.
    DeviceHeartbeatRecorded: (event) =>
      change(event.data.deviceId, (row) => ({
        ...row,
        extension_version: event.data.extensionVersion,
        browser_version: event.data.browserVersion ?? row.browser_version,
        os_version: event.data.osVersion ?? row.os_version,
        policy_version: event.data.policyVersion ?? row.policy_version,
        last_seen_at:
          row.last_seen_at && row.last_seen_at > event.data.receivedAt ? row.last_seen_at : event.data.receivedAt,
      })),
    DeviceDeleted: (event) => ({ key: { device_id: event.data.deviceId }, fold: () => undefined }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
