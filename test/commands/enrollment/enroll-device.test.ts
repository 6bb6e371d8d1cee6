import { describe, expect, it } from 'vitest';
import { returnEnrollmentToken } from '../../../commands/enrollment/return-enrollment-token.ts';
import { enrollDevice, FINGERPRINT_MOVED, INVALID_TOKEN } from '../../../commands/enrollment/enroll-device.ts';
import { acceptsCertificate, device, type DeviceState } from '../../../src/contexts/devices/domain/device.ts';
import { deviceEvents, type DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import { DEVICE_REVOKED } from '../../../src/contexts/devices/domain/reenrollment.ts';
import { context, given, NOW } from '../../dsl/given.ts';
import {
  browser,
  certified,
  DAY,
  deleted,
  DEVICE,
  enrolled,
  first,
  inDays,
  keyOf,
  revoked,
  USER,
  wiped,
  wipeRequested,
} from '../devices/histories.ts';

const tokenId = '77777777-7777-4777-8777-777777777777';
const certificate = {
  certificatePem: 'pem',
  privateKeyPem: 'key',
  serialNumber: 'BB02',
  notBefore: NOW,
  notAfter: NOW + 365 * DAY,
  fingerprintSha256: 'f',
  publicKeySha256: 'key of BB02',
};
const facts = { tokenId, boundUserId: null, ownPlaceholder: null, certificate, caCertificatePem: 'ca' };
const bound = { ...facts, boundUserId: USER };
const input = {
  deviceId: DEVICE,
  besideDeviceId: null,
  certificateSerial: null,
  publicPoint: null,
  enrollmentToken: 'token',
  device: browser,
};
const OTHER = '88888888-8888-4888-8888-888888888888';

const used = { type: 'EnrollmentTokenUsed', data: { tokenId, deviceId: DEVICE } } as const;
const singleUse = { kind: 'enrollment-token', value: tokenId };
const fingerprint = { kind: 'device-fingerprint', value: 'fp-1' };
const ofUser = (userId: string) => ({ kind: 'device-user-fingerprint', value: `${userId}|fp-1` });
const allowed: DeviceEvent = { type: 'DeviceReenrollmentAllowed', data: { deviceId: DEVICE } };
const isEnrolled = (over: object = {}) => ({
  type: 'DeviceEnrolled' as const,
  data: { ...first, ...browser, deviceId: DEVICE, userId: USER, ...over },
});
const accepts = (state: DeviceState, serialNumber: string, now: number) =>
  acceptsCertificate(state, { serialNumber, publicKeySha256: keyOf(serialNumber) }, now);

describe('enrolling a device', () => {
  it('uses the token, registers the device and records its certificate in one append', () => {
    const userId = context().id;
    const outcome = given().when(enrollDevice, input, facts);
    outcome.then(used, isEnrolled({ userId }), certified('BB02'));
    outcome.thenTakes(singleUse, fingerprint);
    expect(outcome.result()).toEqual({ userId, expiresAt: inDays(365), certificate, caCertificatePem: 'ca' });
  });

  it('assigns it to the employee to whom the token is bound', () => {
    given().when(enrollDevice, input, bound).then(used, isEnrolled(), certified('BB02'));
  });

  it('counts once more for its device if the response was lost, and for no other', () => {
    const done = [used, isEnrolled({ userId: OTHER }), certified('AA01')] as const;
    const returned = { type: 'EnrollmentTokenReturned', data: { tokenId, deviceId: DEVICE } } as const;
    const lost = { deviceId: DEVICE, tokenId };
    given(...done)
      .when(returnEnrollmentToken, lost)
      .then(returned);
    // It did not happen, or is known already, or something came since.
    given().when(returnEnrollmentToken, lost).thenNothing();
    given(...done, returned)
      .when(returnEnrollmentToken, lost)
      .thenNothing();
    for (const since of [[isEnrolled(), certified('BB02')], [revoked], [deleted], [wipeRequested, wiped]])
      given(...done, ...since)
        .when(returnEnrollmentToken, lost)
        .thenNothing();
    given(...done)
      .when(returnEnrollmentToken, { ...lost, tokenId: OTHER })
      .thenNothing();

    const again = given(...done, returned).when(enrollDevice, input, facts);
    again.then(used, isEnrolled({ userId: OTHER }), certified('BB02'));
    again.thenTakes({ kind: 'enrollment-token', value: `${tokenId}|AA01` });
    for (const other of [
      { ...facts, tokenId: OTHER },
      { ...facts, boundUserId: USER },
    ])
      given(...done, returned)
        .when(enrollDevice, input, other)
        .thenRefused('conflict', FINGERPRINT_MOVED.message);
    given(...done, returned, revoked)
      .when(enrollDevice, input, facts)
      .thenRefused('forbidden', DEVICE_REVOKED.message);
    // The second certificate is the only one.
    const state = [...done, returned, used, isEnrolled({ userId: OTHER }), certified('BB02')].reduce(
      device.fold,
      device.initial,
    );
    expect([accepts(state, 'AA01', NOW), accepts(state, 'BB02', NOW), state.returnedToken]).toEqual([
      false,
      true,
      undefined,
    ]);
  });

  it('leaves a known device unchanged if only the fingerprint matches', () => {
    for (const history of [
      [enrolled, certified('AA01')],
      [enrolled, certified('AA01'), wipeRequested],
      [enrolled, certified('AA01'), wiped],
    ]) {
      given(...history)
        .when(enrollDevice, input, facts)
        .thenRefused('conflict', FINGERPRINT_MOVED.message);
      given(...history)
        .when(enrollDevice, input, { ...facts, boundUserId: OTHER })
        .thenRefused('conflict', FINGERPRINT_MOVED.message);
      given(...history)
        .when(enrollDevice, { ...input, certificateSerial: 'CC03' }, facts)
        .thenRefused('conflict', FINGERPRINT_MOVED.message);
    }
  });

  it('registers a separate device beside the one that has the fingerprint', () => {
    const userId = context().id;
    const outcome = given().when(enrollDevice, { ...input, besideDeviceId: OTHER }, facts);
    outcome.then(used, isEnrolled({ userId, besideDeviceId: OTHER }), certified('BB02'));
    outcome.thenTakes(singleUse, ofUser(userId));
  });

  it('renews a known device with a token of its user or with its certificate, and keeps its user', () => {
    const history = [enrolled, certified('AA01')];
    const byToken = given(...history).when(enrollDevice, input, bound);
    byToken.then(used, enrolled, certified('BB02'));
    byToken.thenTakes(singleUse);
    given(...history)
      .when(enrollDevice, { ...input, certificateSerial: 'AA01' }, facts)
      .then(used, enrolled, certified('BB02'));
    // The token is bound to another user, whatever certificate the connection shows.
    given(...history)
      .when(enrollDevice, { ...input, certificateSerial: 'AA01' }, { ...facts, boundUserId: OTHER })
      .thenRefused('conflict');
  });

  it('confirms a device that keeps its user only with a token of that user', () => {
    const unconfirmed: DeviceEvent = isEnrolled({ isConfirmed: false });
    const withCertificate = { ...input, certificateSerial: 'AA01' };
    given(unconfirmed, certified('AA01'))
      .when(enrollDevice, withCertificate, facts)
      .then(used, isEnrolled({ isConfirmed: false }), certified('BB02'));
    given(unconfirmed, certified('AA01'))
      .when(enrollDevice, withCertificate, bound)
      .then(used, isEnrolled({ isConfirmed: true }), certified('BB02'));
    const confirmed: DeviceEvent = { type: 'DeviceEnrollmentConfirmed', data: { deviceId: DEVICE } };
    given(unconfirmed, certified('AA01'), confirmed)
      .when(enrollDevice, withCertificate, facts)
      .then(used, isEnrolled({ isConfirmed: true }), certified('BB02'));
  });

  it('ends the previous certificate at once', () => {
    const history: DeviceEvent[] = [enrolled, certified('AA01'), enrolled, certified('BB02')];
    const state = history.reduce(device.fold, device.initial);
    expect(accepts(state, 'AA01', NOW)).toBe(false);
    expect(accepts(state, 'BB02', NOW)).toBe(true);
  });

  it('keeps a pending wipe pending', () => {
    const wipeId = '66666666-6666-4666-8666-666666666666';
    const delivered: DeviceEvent = { type: 'DeviceWipeDelivered', data: { deviceId: DEVICE, wipeId } };
    given(enrolled, certified('AA01'), wipeRequested)
      .when(enrollDevice, input, bound)
      .then(used, isEnrolled({ wipeId }), certified('BB02'));
    const again = isEnrolled({ wipeId }) as DeviceEvent;
    const state = [enrolled, certified('AA01'), wipeRequested, delivered, again, certified('BB02')].reduce(
      device.fold,
      device.initial,
    );
    expect(state).toMatchObject({ status: 'wipe_pending', wipe: { id: wipeId, delivered: false } });
    expect(accepts(state, 'BB02', NOW)).toBe(true);
  });

  it('never reactivates a revoked device without permission, whoever the token is bound to', () => {
    for (const some of [facts, bound]) {
      given(enrolled, certified('AA01'), revoked)
        .when(enrollDevice, { ...input, certificateSerial: 'AA01' }, some)
        .thenRefused('forbidden', DEVICE_REVOKED.message);
    }
    given(enrolled, revoked, allowed, revoked)
      .when(enrollDevice, input, bound)
      .thenRefused('forbidden', DEVICE_REVOKED.message);
  });

  it('reactivates a revoked device once an administrator has allowed it, and keeps its user only with a token bound to that user', () => {
    const history = [enrolled, certified('AA01'), revoked, allowed];
    given(...history)
      .when(enrollDevice, input, bound)
      .then(used, enrolled, certified('BB02'));
    given(...history)
      .when(enrollDevice, input, facts)
      .then(used, isEnrolled({ userId: context().id }), certified('BB02'));
    given(...history)
      .when(enrollDevice, input, { ...facts, boundUserId: OTHER })
      .then(used, isEnrolled({ userId: OTHER }), certified('BB02'));
    // Its user is still the placeholder that was created for it, which is no person.
    given(...history)
      .when(enrollDevice, input, { ...facts, ownPlaceholder: USER })
      .then(used, enrolled, certified('BB02'));
    const state = [...history, enrolled, certified('BB02')].reduce(device.fold, device.initial);
    expect(state).toMatchObject({ status: 'active', mayReenroll: false });
    expect(accepts(state, 'AA01', NOW)).toBe(false);
  });

  it('moves the lookup claim of a device beside another when its user changes', () => {
    const beside = isEnrolled({ besideDeviceId: OTHER }) as DeviceEvent;
    const outcome = given(beside, certified('AA01'), revoked, allowed).when(enrollDevice, input, {
      ...facts,
      boundUserId: OTHER,
    });
    outcome.thenTakes(singleUse, ofUser(OTHER));
    outcome.thenReleases(ofUser(USER));
  });

  it('reads older enrollments with their original meaning', () => {
    const { upcasters } = deviceEvents.definitions.DeviceEnrolled;
    const before = (browserType: string | null) => upcasters[1]({ browserType });
    expect(before('chrome')).toEqual({ browserType: 'chrome', besideDeviceId: null, isConfirmed: true, wipeId: null });
    // Agents that enrolled with a name only have not proved whose they are.
    expect(before(null)).toMatchObject({ isConfirmed: false });
  });

  it('never restores a deleted device', () => {
    expect(() => given(enrolled, deleted).when(enrollDevice, input, facts).result()).toThrow(FINGERPRINT_MOVED.message);
  });

  it('puts no secret into an event', () => {
    const decided = JSON.stringify(
      enrollDevice.decide(device.initial, { ...input, enrollmentToken: 'S3CRET' }, context(), facts as never),
    );
    const { events } = JSON.parse(decided) as { events: unknown };
    expect(JSON.stringify(events)).not.toMatch(/S3CRET|"key"|pem/);
  });

  it('treats a lost token as invalid, and retries after a lost fingerprint', () => {
    expect(enrollDevice.whenClaimed?.(singleUse)).toBe(INVALID_TOKEN);
    for (const claim of [fingerprint, ofUser(USER)]) expect(enrollDevice.whenClaimed?.(claim)).toBe(FINGERPRINT_MOVED);
  });
});
