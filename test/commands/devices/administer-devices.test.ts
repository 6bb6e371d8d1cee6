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
  it('has no effect the second time', () =>
    given(enrolled, certified(), revoked).when(revokeDevice, revoke).thenNothing());
  it('revokes a device that waits to be wiped', () =>
    given(enrolled, wipeRequested).when(revokeDevice, revoke).then(revocation('revoked')));
  it('changes nothing for a wiped device', () =>
    given(enrolled, wipeRequested, wiped).when(revokeDevice, revoke).thenNothing());
  it('fails for a device that never enrolled', () => given().when(revokeDevice, revoke).thenRefused('notFound'));
  it('fails for a deleted device', () =>
    given(enrolled, revoked, deleted).when(revokeDevice, revoke).thenRefused('notFound'));
  it('leaves a device unchanged that belongs to another user by now', () => {
    const ofOther = { deviceId, reason: 'user_deleted', ofUserId: '99999999-9999-4999-8999-999999999999' } as const;
    given(enrolled, certified()).when(revokeDevice, ofOther).thenNothing();
    given(enrolled, certified())
      .when(revokeDevice, { ...ofOther, ofUserId: USER })
      .then(revocation('user_deleted'));
  });
  it('records once that the user was deleted, also for a revoked device', () => {
    const because = { deviceId, reason: 'user_deleted' } as const;
    given(enrolled, revoked).when(revokeDevice, because).then(revocation('user_deleted'));
    given(enrolled, { type: 'DeviceRevoked', data: because }).when(revokeDevice, because).thenNothing();
  });
});

describe('allowing a revoked device to enroll again', () => {
  const allowed = { type: 'DeviceReenrollmentAllowed', data: { deviceId } } as const;

  it('is recorded once', () => {
    given(enrolled, revoked).when(allowReenrollment, { deviceId }).then(allowed);
    given(enrolled, revoked, allowed).when(allowReenrollment, { deviceId }).thenNothing();
  });
  it('ends with another revocation', () => {
    const again = { deviceId, reason: 'revoked' } as const;
    given(enrolled, revoked, allowed).when(revokeDevice, again).then(revocation('revoked'));
    given(enrolled, revoked, allowed, revoked).when(revokeDevice, again).thenNothing();
  });
  it('is limited to revoked devices', () => {
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

  it('is a request until the extension confirms it', () =>
    given(enrolled).when(requestDeviceWipe, { deviceId }).then(requested));
  it('has no effect the second time', () =>
    given(enrolled, wipeRequested).when(requestDeviceWipe, { deviceId }).thenNothing());
  it('is refused for a revoked or wiped device', () => {
    given(enrolled, revoked).when(requestDeviceWipe, { deviceId }).thenRefused('conflict');
    given(enrolled, wipeRequested, wiped).when(requestDeviceWipe, { deviceId }).thenRefused('conflict');
  });
  it('fails for an unknown or deleted device', () => {
    given().when(requestDeviceWipe, { deviceId }).thenRefused('notFound');
    given(enrolled, deleted).when(requestDeviceWipe, { deviceId }).thenRefused('notFound');
  });
});

describe('silencing stale alerts', () => {
  const silence = (silenced: boolean, until: string | null) => ({
    type: 'DeviceStaleAlertsSilenced' as const,
    data: { deviceId, silenced, until },
  });

  it('lasts for the requested number of days', () =>
    given(enrolled)
      .when(silenceStaleAlerts, { deviceId, silenced: true, days: 14 })
      .then(silence(true, inDays(14))));
  it('lasts until it is ended if no days are given', () =>
    given(enrolled).when(silenceStaleAlerts, { deviceId, silenced: true, days: null }).then(silence(true, null)));
  it('can be ended at once, whatever days are given', () =>
    given(enrolled).when(silenceStaleAlerts, { deviceId, silenced: false, days: 14 }).then(silence(false, null)));
  it('fails for an unknown device', () =>
    given().when(silenceStaleAlerts, { deviceId, silenced: true, days: null }).thenRefused('notFound'));
});

describe('deleting a device', () => {
  const gone = { type: 'DeviceDeleted', data: { deviceId } } as const;
  const fingerprint = { kind: 'device-fingerprint', value: 'fp-1' };

  it('revokes it and lets its browser enroll as another device', () => {
    const outcome = given(enrolled, certified()).when(deleteDevice, { deviceId });
    outcome.then(revocation('deleted'), gone);
    outcome.thenReleases(fingerprint);
  });
  it('does not revoke a revoked device again', () =>
    given(enrolled, revoked).when(deleteDevice, { deviceId }).then(gone));
  it('has no effect the second time', () =>
    given(enrolled, revoked, deleted).when(deleteDevice, { deviceId }).thenRefused('notFound'));
});
