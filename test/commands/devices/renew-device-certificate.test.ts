import { describe, expect, it } from 'vitest';
import { renewDeviceCertificate } from '../../../commands/devices/renew-device-certificate.ts';
import { acceptsCertificate, device, type DeviceState } from '../../../src/contexts/devices/domain/device.ts';
import type { DeviceEvent } from '../../../src/contexts/devices/domain/events.ts';
import { given, NOW } from '../../dsl/given.ts';
import { certified, DAY, DEVICE, enrolled, inDays, keyOf, revoked } from './histories.ts';

const made = {
  certificatePem: 'pem',
  privateKeyPem: 'key',
  serialNumber: 'BB02',
  notBefore: NOW,
  notAfter: NOW + 365 * DAY,
  fingerprintSha256: 'f',
  publicKeySha256: 'key of BB02',
};
const facts = { certificate: made, caCertificatePem: 'ca' };
const renew = { deviceId: DEVICE, certificateSerial: 'AA01' };
const stateAfter = (...events: DeviceEvent[]) => events.reduce(device.fold, device.initial);
const accepts = (state: DeviceState, serialNumber: string, now: number) =>
  acceptsCertificate(state, { serialNumber, publicKeySha256: keyOf(serialNumber) }, now);

describe('renewing a device certificate', () => {
  it('names the new one and keeps the old one valid for a day', () => {
    given(enrolled, certified('AA01', inDays(30)))
      .when(renewDeviceCertificate, renew, facts)
      .then(certified('BB02', inDays(365), inDays(1)));
  });

  it('is refused before the last 30 days', () => {
    given(enrolled, certified('AA01', inDays(31)))
      .when(renewDeviceCertificate, renew, facts)
      .thenRefused('conflict');
  });

  it('is refused for a certificate that is no longer accepted', () => {
    const expired = certified('AA01', inDays(-1));
    given(enrolled, expired).when(renewDeviceCertificate, renew, facts).thenRefused('unauthenticated');
    given(enrolled, certified('AA01', inDays(10)), revoked)
      .when(renewDeviceCertificate, renew, facts)
      .thenRefused('unauthenticated');
    given(enrolled, certified('CC03', inDays(10)))
      .when(renewDeviceCertificate, renew, facts)
      .thenRefused('unauthenticated');
  });

  it('works again with the old certificate after a lost response', () => {
    const history = [enrolled, certified('AA01', inDays(10)), certified('BB02', inDays(365), inDays(1))];
    given(...history)
      .when(renewDeviceCertificate, renew, facts)
      .thenTypes('DeviceCertificateIssued');
    const state = stateAfter(...history, certified('CC03', inDays(365), inDays(1)));
    for (const serial of ['AA01', 'BB02', 'CC03']) expect(accepts(state, serial, NOW)).toBe(true);
    expect(accepts(state, 'AA01', NOW + 2 * DAY)).toBe(false);
    expect(accepts(state, 'BB02', NOW + 2 * DAY)).toBe(false);
    expect(accepts(state, 'CC03', NOW + 2 * DAY)).toBe(true);
  });

  it('keeps the old certificate for its day, however many responses get lost', () => {
    const later = ['BB02', 'CC03', 'DD04', 'EE05', 'FF06', 'AB07', 'AC08'];
    const state = stateAfter(
      enrolled,
      certified('AA00', inDays(-100)),
      certified('AA01', inDays(10), inDays(-99)),
      ...later.map((serial) => certified(serial, inDays(365), inDays(1))),
    );
    expect(accepts(state, 'AA01', NOW + 0.9 * DAY)).toBe(true);
    expect(accepts(state, 'AA01', NOW + DAY)).toBe(false);
    expect(later.filter((serial) => accepts(state, serial, NOW))).toEqual(later.slice(-4));
    expect(state.certificates).toHaveLength(5);
  });

  it('never extends the validity of an old certificate', () => {
    const state = stateAfter(enrolled, certified('AA01', inDays(0.5)), certified('BB02', inDays(365), inDays(1)));
    expect(accepts(state, 'AA01', NOW + 0.6 * DAY)).toBe(false);
  });
});
