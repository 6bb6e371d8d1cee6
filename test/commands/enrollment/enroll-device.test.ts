import { describe, expect, it } from 'vitest';
import { enrollDevice, FINGERPRINT_MOVED, INVALID_TOKEN } from '../../../commands/enrollment/enroll-device.ts';
import { acceptsCertificate, device } from '../../../src/domain/devices/device.ts';
import type { DeviceEvent } from '../../../src/domain/devices/events.ts';
import { context, given, NOW } from '../../dsl/given.ts';
import { browser, certified, DAY, deleted, DEVICE, enrolled, inDays, revoked, USER, wipeRequested } from '../devices/histories.ts';

const tokenId = '77777777-7777-4777-8777-777777777777';
const certificate = { certificatePem: 'pem', privateKeyPem: 'key', serialNumber: 'BB02', notBefore: NOW, notAfter: NOW + 365 * DAY, fingerprintSha256: 'f' };
const facts = { tokenId, certificate, caCertificatePem: 'ca' };
const input = { deviceId: DEVICE, enrollmentToken: 'token', device: browser };

const used = { type: 'EnrollmentTokenUsed', data: { tokenId, deviceId: DEVICE } };
const singleUse = { kind: 'enrollment-token', value: tokenId };
const fingerprint = { kind: 'device-fingerprint', value: 'fp-1' };

describe('enrolling a device', () => {
  it('uses the token, registers the device and names its certificate together', () => {
    const userId = context().id;
    const outcome = given().when(enrollDevice, input, facts);
    outcome.then(used, { type: 'DeviceEnrolled', data: { ...browser, deviceId: DEVICE, userId } }, certified('BB02'));
    outcome.thenTakes(singleUse, fingerprint);
    expect(outcome.result()).toEqual({ userId, expiresAt: inDays(365), certificate, caCertificatePem: 'ca' });
  });

  it('again with a known fingerprint renews the device and keeps its user', () => {
    const outcome = given(enrolled, certified('AA01')).when(enrollDevice, input, facts);
    outcome.then(used, enrolled, certified('BB02'));
    outcome.thenTakes(singleUse);
    expect(outcome.result().userId).toBe(USER);
  });

  it('again ends the certificate before at once', () => {
    const history: DeviceEvent[] = [enrolled, certified('AA01'), enrolled, certified('BB02')];
    const state = history.reduce(device.fold, device.initial);
    expect(acceptsCertificate(state, 'AA01', NOW)).toBe(false);
    expect(acceptsCertificate(state, 'BB02', NOW)).toBe(true);
  });

  it('again brings a revoked device back, without what was revoked', () => {
    given(enrolled, certified('AA01'), revoked).when(enrollDevice, input, facts).then(used, enrolled, certified('BB02'));
    const history: DeviceEvent[] = [enrolled, certified('AA01'), wipeRequested, revoked, enrolled, certified('BB02')];
    const state = history.reduce(device.fold, device.initial);
    expect(state).toMatchObject({ status: 'active', wipe: undefined });
    expect(acceptsCertificate(state, 'AA01', NOW)).toBe(false);
  });

  it('gets another user where the one before was deleted', () => {
    const orphaned: DeviceEvent = { type: 'DeviceRevoked', data: { deviceId: DEVICE, reason: 'user_deleted' } };
    expect(given(enrolled, orphaned).when(enrollDevice, input, facts).result().userId).toBe(context().id);
  });

  it('never revives a device that was deleted', () => {
    expect(() => given(enrolled, deleted).when(enrollDevice, input, facts).result()).toThrow(FINGERPRINT_MOVED.message);
  });

  it('puts no secret into an event', () => {
    const decided = JSON.stringify(enrollDevice.decide(device.initial, { ...input, enrollmentToken: 'S3CRET' }, context(), facts as never));
    const { events } = JSON.parse(decided) as { events: unknown };
    expect(JSON.stringify(events)).not.toMatch(/S3CRET|"key"|pem/);
  });

  it('takes a lost token for invalid, and a lost fingerprint for a reason to look again', () => {
    expect(enrollDevice.whenClaimed?.(singleUse)).toBe(INVALID_TOKEN);
    expect(enrollDevice.whenClaimed?.(fingerprint)).toBe(FINGERPRINT_MOVED);
  });
});
