import { describe, expect, it } from 'vitest';
import { devices, type DeviceRow } from '../../../projections/devices/devices.ts';
import type { DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import { ERASED } from '../../../src/platform/kernel/event.ts';
import { recorded, rowsAfter } from '../../dsl/given.ts';
import {
  browser,
  certified,
  deleted,
  DEVICE,
  enrolled,
  first,
  inDays,
  revoked,
  USER,
  wiped,
  wipeRequested,
} from '../../commands/devices/histories.ts';

const rows = (...events: DeviceEvent[]) =>
  rowsAfter(
    devices,
    events.map((event, index) => recorded(event, index + 1)),
  );
const row = (...events: DeviceEvent[]) => rows(...events)[0] as DeviceRow | undefined;
const moment = (n: number) => new Date(Date.parse('2026-06-01T12:00:00.000Z') + n * 1_000).toISOString();
const hosted = (hostname: string): DeviceEvent => ({
  type: 'DeviceEnrolled',
  data: { ...first, ...browser, deviceId: DEVICE, userId: USER, hostname },
});

describe('the device list', () => {
  it('contains a device from its enrollment', () => {
    expect(row(enrolled, certified('AA01'))).toMatchObject({
      device_id: DEVICE,
      user_id: USER,
      device_fingerprint: 'fp-1',
      browser_type: 'chrome',
      os_type: 'linux',
      extension_version: '2.0.0',
      status: 'active',
      certificate_serial: 'AA01',
      certificate_expires_at: inDays(365),
      enrolled_at: moment(1),
      last_seen_at: null,
      created_at: moment(1),
      updated_at: moment(2),
    });
  });

  it('shows a revocation, and keeps the first one', () => {
    expect(row(enrolled, revoked, revoked)).toMatchObject({ status: 'revoked', revoked_at: moment(2) });
  });

  it('shows a wipe from the request to its completion', () => {
    expect(row(enrolled, wipeRequested)).toMatchObject({
      status: 'wipe_pending',
      wipe_requested_at: moment(2),
      wiped_at: null,
    });
    const done = { status: 'wiped', wipe_requested_at: moment(2), wiped_at: moment(3), revoked_at: moment(3) };
    expect(row(enrolled, wipeRequested, wiped)).toMatchObject(done);
    expect(row(enrolled, wipeRequested, wiped, revoked)).toMatchObject(done);
  });

  it('resets a device when it enrolls again, under the same id', () => {
    expect(row(enrolled, wipeRequested, revoked, enrolled, certified('BB02'))).toMatchObject({
      status: 'active',
      wipe_requested_at: null,
      revoked_at: null,
      certificate_serial: 'BB02',
      enrolled_at: moment(4),
      created_at: moment(1),
    });
  });

  it('keeps a pending wipe, with the time of the request, when the device enrolls again', () => {
    const again: DeviceEvent = {
      type: 'DeviceEnrolled',
      data: { ...first, ...browser, deviceId: DEVICE, userId: USER, wipeId: '66666666-6666-4666-8666-666666666666' },
    };
    expect(row(enrolled, wipeRequested, again)).toMatchObject({
      status: 'wipe_pending',
      wipe_requested_at: moment(2),
      wipe_delivered_at: null,
      enrolled_at: moment(3),
    });
  });

  it('shows that a revoked device may enroll once more, until it does or is revoked again', () => {
    const allowed: DeviceEvent = { type: 'DeviceReenrollmentAllowed', data: { deviceId: DEVICE } };
    expect(row(enrolled, revoked, allowed)).toMatchObject({ status: 'revoked', reenrollment_allowed: true });
    for (const then of [enrolled, revoked])
      expect(row(enrolled, revoked, allowed, then)).toMatchObject({ reenrollment_allowed: false });
  });

  it('names the device beside which it enrolled, and whether an administrator confirmed it', () => {
    const beside: DeviceEvent = {
      type: 'DeviceEnrolled',
      data: { ...first, ...browser, deviceId: DEVICE, userId: USER, besideDeviceId: USER, isConfirmed: false },
    };
    const confirmed: DeviceEvent = { type: 'DeviceEnrollmentConfirmed', data: { deviceId: DEVICE } };
    expect(row(beside)).toMatchObject({ beside_device_id: USER, enrollment_confirmed: false });
    expect(row(beside, confirmed)).toMatchObject({ beside_device_id: USER, enrollment_confirmed: true });
  });

  it('shows silenced alerts', () => {
    const silenced: DeviceEvent = {
      type: 'DeviceStaleAlertsSilenced',
      data: { deviceId: DEVICE, silenced: true, until: inDays(3) },
    };
    expect(row(enrolled, silenced)).toMatchObject({
      stale_alerts_silenced: true,
      stale_alerts_silenced_until: inDays(3),
    });
  });

  it('drops the name of the computer with its user, and never shows an erased one', () => {
    const gone: DeviceEvent = { type: 'DeviceRevoked', data: { deviceId: DEVICE, reason: 'user_deleted' } };
    expect(row(hosted('ada-laptop'))?.hostname).toBe('ada-laptop');
    expect(row(hosted('ada-laptop'), gone)).toEqual(row(hosted(ERASED), gone));
    expect(row(hosted(ERASED))?.hostname).toBeNull();
  });

  it('removes a deleted device, and ignores later events about it', () => {
    expect(rows(enrolled, revoked, deleted)).toEqual([]);
    expect(rows(enrolled, revoked, deleted, revoked, certified())).toEqual([]);
  });
});
