import { describe, it } from 'vitest';
import { allowReenrollment } from '../../../commands/devices/allow-reenrollment.ts';
import { deleteDevice } from '../../../commands/devices/delete-device.ts';
import { requestDeviceWipe } from '../../../commands/devices/request-device-wipe.ts';
import { revokeDevice } from '../../../commands/devices/revoke-device.ts';
import { silenceStaleAlerts } from '../../../commands/devices/silence-stale-alerts.ts';
import { context, given } from '../../dsl/given.ts';
import { certified, deleted, DEVICE, enrolled, inDays, revoked, USER, wiped, wipeRequested } from './histories.ts';

const deviceId = DEVICE;
const revocation = (reason: 'revoked' | 'deleted' | 'user_deleted') => ({
  type: 'DeviceRevoked' as const,
  data: { deviceId, reason },
});

describe('revoking a device', () => {
  const revoke = { deviceId, reason: 'revoked' } as const;

  it('is recorded with its reason', () =>
    given(enrolled, certified()).when(revokeDevice, revoke).then(revocation('revoked')));
  it('twice is once', () => given(enrolled, certified(), revoked).when(revokeDevice, revoke).thenNothing());
  it('ends a device that waits to be wiped', () =>
    given(enrolled, wipeRequested).when(revokeDevice, revoke).then(revocation('revoked')));
  it('changes nothing of a wiped device', () =>
    given(enrolled, wipeRequested, wiped).when(revokeDevice, revoke).thenNothing());
  it('finds no device that never enrolled', () => given().when(revokeDevice, revoke).thenRefused('notFound'));
  it('finds no deleted device', () =>
    given(enrolled, revoked, deleted).when(revokeDevice, revoke).thenRefused('notFound'));
  it('leaves a device alone that belongs to somebody else by now', () => {
    const ofOther = { deviceId, reason: 'user_deleted', ofUserId: '99999999-9999-4999-8999-999999999999' } as const;
    given(enrolled, certified()).when(revokeDevice, ofOther).thenNothing();
    given(enrolled, certified())
      .when(revokeDevice, { ...ofOther, ofUserId: USER })
      .then(revocation('user_deleted'));
  });
  it('records that the user was deleted of a revoked device too, once', () => {
    const because = { deviceId, reason: 'user_deleted' } as const;
    given(enrolled, revoked).when(revokeDevice, because).then(revocation('user_deleted'));
    given(enrolled, { type: 'DeviceRevoked', data: because }).when(revokeDevice, because).thenNothing();
  });
});

describe('letting a revoked device enroll again', () => {
  const allowed = { type: 'DeviceReenrollmentAllowed', data: { deviceId } } as const;

  it('is recorded, once', () => {
    given(enrolled, revoked).when(allowReenrollment, { deviceId }).then(allowed);
    given(enrolled, revoked, allowed).when(allowReenrollment, { deviceId }).thenNothing();
  });
  it('ends with another revocation', () => {
    const again = { deviceId, reason: 'revoked' } as const;
    given(enrolled, revoked, allowed).when(revokeDevice, again).then(revocation('revoked'));
    given(enrolled, revoked, allowed, revoked).when(revokeDevice, again).thenNothing();
  });
  it('is for revoked devices alone', () => {
    for (const history of [[enrolled], [enrolled, wipeRequested], [enrolled, wipeRequested, wiped]])
      given(...history)
        .when(allowReenrollment, { deviceId })
        .thenRefused('conflict');
    for (const history of [[], [enrolled, deleted]])
      given(...history)
        .when(allowReenrollment, { deviceId })
        .thenRefused('notFound');
  });
});

describe('wiping a device', () => {
  const requested = { type: 'DeviceWipeRequested', data: { deviceId, wipeId: context().id } } as const;

  it('is a request until the extension has done it', () =>
    given(enrolled).when(requestDeviceWipe, { deviceId }).then(requested));
  it('twice is once', () => given(enrolled, wipeRequested).when(requestDeviceWipe, { deviceId }).thenNothing());
  it('is too late for a revoked or wiped device', () => {
    given(enrolled, revoked).when(requestDeviceWipe, { deviceId }).thenRefused('conflict');
    given(enrolled, wipeRequested, wiped).when(requestDeviceWipe, { deviceId }).thenRefused('conflict');
  });
  it('finds no unknown or deleted device', () => {
    given().when(requestDeviceWipe, { deviceId }).thenRefused('notFound');
    given(enrolled, deleted).when(requestDeviceWipe, { deviceId }).thenRefused('notFound');
  });
});

describe('silencing stale alerts', () => {
  const silence = (silenced: boolean, until: string | null) => ({
    type: 'DeviceStaleAlertsSilenced' as const,
    data: { deviceId, silenced, until },
  });

  it('holds for the days that are asked', () =>
    given(enrolled)
      .when(silenceStaleAlerts, { deviceId, silenced: true, days: 14 })
      .then(silence(true, inDays(14))));
  it('holds until ended where no days are asked', () =>
    given(enrolled).when(silenceStaleAlerts, { deviceId, silenced: true, days: null }).then(silence(true, null)));
  it('ends at once, whatever days are named', () =>
    given(enrolled).when(silenceStaleAlerts, { deviceId, silenced: false, days: 14 }).then(silence(false, null)));
  it('finds no unknown device', () =>
    given().when(silenceStaleAlerts, { deviceId, silenced: true, days: null }).thenRefused('notFound'));
});

describe('deleting a device', () => {
  const gone = { type: 'DeviceDeleted', data: { deviceId } } as const;
  const fingerprint = { kind: 'device-fingerprint', value: 'fp-1' };

  it('cuts it off and lets its browser enroll as another device', () => {
    const outcome = given(enrolled, certified()).when(deleteDevice, { deviceId });
    outcome.then(revocation('deleted'), gone);
    outcome.thenReleases(fingerprint);
  });
  it('does not revoke what is revoked', () => given(enrolled, revoked).when(deleteDevice, { deviceId }).then(gone));
  it('happens once', () => given(enrolled, revoked, deleted).when(deleteDevice, { deviceId }).thenRefused('notFound'));
});
