import { describe, expect, it } from 'vitest';
import { autoEnrollDevice } from '../../../commands/enrollment/auto-enroll-device.ts';
import { FINGERPRINT_MOVED } from '../../../commands/enrollment/enroll-device.ts';
import { given, NOW } from '../../dsl/given.ts';
import { certified, DAY, deleted, DEVICE, enrolled, first, revoked, USER } from '../devices/histories.ts';

const certificate = {
  certificatePem: 'pem',
  privateKeyPem: 'key',
  serialNumber: 'BB02',
  notBefore: NOW,
  notAfter: NOW + 365 * DAY,
  fingerprintSha256: 'f',
  publicKeySha256: 'key of BB02',
};
const facts = { certificate, caCertificatePem: 'ca' };
const device = {
  deviceFingerprint: 'agent:1',
  hostname: 'ada-laptop',
  osType: 'windows',
  osVersion: '11',
  agentVersion: '3.0',
} as const;
const input = {
  deviceId: DEVICE,
  besideDeviceId: null,
  certificateSerial: null,
  publicPoint: null,
  userId: USER,
  accessKeyDigest: 'd'.repeat(64),
  device,
};

const isEnrolled = {
  type: 'DeviceEnrolled' as const,
  data: {
    ...first,
    isConfirmed: false,
    ...device,
    deviceId: DEVICE,
    userId: USER,
    browserType: null,
    browserVersion: null,
    extensionVersion: null,
  },
};
const hasKey = { type: 'DeviceAccessKeyIssued', data: { deviceId: DEVICE, accessKeyDigest: 'd'.repeat(64) } } as const;

describe('auto-enrollment of an agent', () => {
  it('registers the device of the user, with a certificate and the digest of its key', () => {
    const outcome = given().when(autoEnrollDevice, input, facts);
    outcome.then(isEnrolled, certified('BB02'), hasKey);
    outcome.thenTakes({ kind: 'device-fingerprint', value: 'agent:1' });
    expect(outcome.result()).toEqual(facts);
  });

  it('renews a device that presents its certificate, and keeps it confirmed', () => {
    const outcome = given(enrolled, certified('AA01')).when(
      autoEnrollDevice,
      { ...input, certificateSerial: 'AA01' },
      facts,
    );
    outcome.then({ ...isEnrolled, data: { ...isEnrolled.data, isConfirmed: true } }, certified('BB02'), hasKey);
    outcome.thenTakes();
  });

  it('leaves a device unchanged without its certificate, with another one, or for another user', () => {
    for (const over of [{}, { certificateSerial: 'CC03' }, { certificateSerial: 'AA01', userId: DEVICE }]) {
      given(enrolled, certified('AA01'))
        .when(autoEnrollDevice, { ...input, ...over }, facts)
        .thenRefused('conflict', FINGERPRINT_MOVED.message);
    }
  });

  it('does not reactivate a revoked device', () => {
    given(enrolled, certified('AA01'), revoked).when(autoEnrollDevice, input, facts).thenRefused('forbidden');
  });

  it('leaves the device that has the fingerprint unchanged', () => {
    const outcome = given().when(autoEnrollDevice, { ...input, besideDeviceId: USER }, facts);
    outcome.then({ ...isEnrolled, data: { ...isEnrolled.data, besideDeviceId: USER } }, certified('BB02'), hasKey);
    outcome.thenTakes();
  });

  it('never restores a deleted device', () => {
    given(enrolled, deleted).when(autoEnrollDevice, input, facts).thenRefused('conflict', FINGERPRINT_MOVED.message);
  });
});
