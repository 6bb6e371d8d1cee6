import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedSequence, tbsCertificate } from '../../../src/platform/pki/certificate-writing.ts';
import { boolean, encode, unsignedInteger, octetString, sequence } from '../../../src/platform/pki/der.ts';
import type { Node } from '../../../src/platform/pki/der.ts';
import {
  readDeviceClaims,
  trustAuthority,
  verifyDeviceCertificate,
} from '../../../src/platform/pki/device-identity.ts';
import { deviceUri } from '../../../src/platform/pki/device-name.ts';
import { distinguishedName } from '../../../src/platform/pki/distinguished-name.ts';
import {
  KEY_USAGE,
  basicConstraintsOfAuthority,
  basicConstraintsOfLeaf,
  dnsName,
  extendedKeyUsage,
  keyUsage,
  subjectAltName,
  uriName,
} from '../../../src/platform/pki/extension-writing.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { OID, algorithmOid } from '../../../src/platform/pki/object-identifiers.ts';
import { firstCertificate } from '../../../src/platform/pki/pem.ts';
import { DAY, NOW, issued, leafContents, newAuthority, newTenant, rsaAuthority, signLeaf } from './fixtures.ts';

const tenantId = newTenant();
const deviceId = randomUUID();
const authority = newAuthority();
const issuer = prepareCertificateIssuer(authority);
const trusted = trustAuthority(tenantId, authority.certificatePem);
const device = issued(issuer, { tenantId, deviceId });
const verify = (presented: string | Uint8Array, authorities = [trusted], now = NOW) =>
  verifyDeviceCertificate(presented, authorities, now);

describe('a presented device certificate', () => {
  const { serialNumber, fingerprintSha256, publicKeySha256, notBefore, notAfter } = device;
  const claims = { tenantId, deviceId, serialNumber, fingerprintSha256, publicKeySha256, notBefore, notAfter };

  it('is read alike as PEM and as DER', () => {
    expect(readDeviceClaims(device.certificatePem)).toEqual(claims);
    expect(readDeviceClaims(firstCertificate(device.certificatePem))).toEqual(claims);
    expect(readDeviceClaims(new Uint8Array(firstCertificate(device.certificatePem)))).toEqual(claims);
  });

  it('proves the device to the tenant whose authority signed it', () => {
    expect(verify(device.certificatePem)).toEqual({
      ...claims,
      verified: true,
      authoritySha256: authority.fingerprintSha256,
    });
  });

  it('proves it among other authorities of the tenant, including old ones and those of the same name', () => {
    const others = [newAuthority(), rsaAuthority(), newAuthority()].map((other) =>
      trustAuthority(tenantId, other.certificatePem),
    );
    expect(verify(device.certificatePem, [...others, trusted])).toMatchObject({ verified: true });
  });

  it('proves it under an RSA authority', () => {
    const rsa = rsaAuthority();
    const presented = issued(prepareCertificateIssuer(rsa), { tenantId, deviceId }).certificatePem;
    expect(verify(presented, [trustAuthority(tenantId, rsa.certificatePem)])).toMatchObject({ tenantId, deviceId });
  });

  it("proves nothing to another tenant, even if that tenant's authority is known", () => {
    const [other, theirs] = [newTenant(), newAuthority()];
    const foreign = issued(prepareCertificateIssuer(theirs), { tenantId, deviceId }).certificatePem;
    expect(verify(foreign, [trustAuthority(other, theirs.certificatePem)])).toEqual({ refused: 'unknown authority' });
    expect(verify(foreign, [trusted, trustAuthority(other, theirs.certificatePem)])).toEqual({
      refused: 'bad signature',
    });
    expect(verify(device.certificatePem, [trustAuthority(other, authority.certificatePem)])).toEqual({
      refused: 'unknown authority',
    });
  });

  it('proves nothing without an authority, or under another one of the same name', () => {
    expect(verify(device.certificatePem, [])).toEqual({ refused: 'unknown authority' });
    expect(verify(device.certificatePem, [trustAuthority(tenantId, newAuthority().certificatePem)])).toEqual({
      refused: 'bad signature',
    });
    expect(verify(device.certificatePem, [trustAuthority(tenantId, rsaAuthority().certificatePem)])).toEqual({
      refused: 'unknown authority',
    });
  });

  it('is valid from its first second to its last', () => {
    expect(verify(device.certificatePem, [trusted], notBefore - 1)).toEqual({ refused: 'not yet valid' });
    expect(verify(device.certificatePem, [trusted], notBefore)).toMatchObject({ verified: true });
    expect(verify(device.certificatePem, [trusted], notAfter)).toMatchObject({ verified: true });
    expect(verify(device.certificatePem, [trusted], notAfter + 1)).toEqual({ refused: 'expired' });
  });

  it('ends with its authority', () => {
    const ended = { ...trusted, notAfter: NOW - 1 };
    expect(verify(device.certificatePem, [ended])).toEqual({ refused: 'expired' });
  });
});

describe('an invalid device certificate', () => {
  const sound = leafContents(issuer, tenantId, deviceId);
  const alternative = subjectAltName(uriName(deviceUri(tenantId, deviceId)));
  const [constraints, usage, purpose] = [
    basicConstraintsOfLeaf(),
    keyUsage(KEY_USAGE.digitalSignature),
    extendedKeyUsage(OID.clientAuth),
  ];
  const withTwoCommonNames = (): Node => {
    const parts = [{ organization: tenantId, commonName: randomUUID() }, { commonName: deviceId }].map(
      distinguishedName,
    );
    return sequence(...parts.flatMap(({ value }) => value as Node[]));
  };
  const critical = (dotted: string) =>
    sequence(algorithmOid(dotted).node, boolean(true), octetString(encode(unsignedInteger(Uint8Array.of(1)))));

  it('is derived from valid contents', () => {
    expect(verify(signLeaf(issuer, sound))).toMatchObject({ verified: true });
  });

  it.each([
    ['an authority', { extensions: [basicConstraintsOfAuthority(), usage, purpose, alternative] }],
    [
      'a key that may not sign',
      { extensions: [constraints, keyUsage(KEY_USAGE.keyEncipherment), purpose, alternative] },
    ],
    ['no keyUsage', { extensions: [constraints, purpose, alternative] }],
    ['a server', { extensions: [constraints, usage, extendedKeyUsage(OID.serverAuth), alternative] }],
    ['no extendedKeyUsage', { extensions: [constraints, usage, alternative] }],
    ['no subjectAltName', { extensions: [constraints, usage, purpose] }],
    [
      'a critical extension that is not understood',
      { extensions: [constraints, usage, purpose, alternative, critical('2.5.29.36')] },
    ],
    [
      'two names',
      {
        extensions: [
          constraints,
          usage,
          purpose,
          subjectAltName(uriName(deviceUri(tenantId, deviceId)), uriName(deviceUri(tenantId, randomUUID()))),
        ],
      },
    ],
    [
      'a DNS name that looks like the URI',
      { extensions: [constraints, usage, purpose, subjectAltName(dnsName(deviceUri(tenantId, deviceId)))] },
    ],
    [
      'a URI with trailing text',
      { extensions: [constraints, usage, purpose, subjectAltName(uriName(`${deviceUri(tenantId, deviceId)}/x`))] },
    ],
    [
      'a URI with something before it',
      { extensions: [constraints, usage, purpose, subjectAltName(uriName(`x${deviceUri(tenantId, deviceId)}`))] },
    ],
    ['a point of another length', { publicPoint: Buffer.concat([sound.publicPoint, Buffer.alloc(32)]) }],
    ['a compressed point', { publicPoint: sound.publicPoint.subarray(0, 33) }],
    [
      'a URI in upper case',
      {
        extensions: [constraints, usage, purpose, subjectAltName(uriName(deviceUri(tenantId, deviceId.toUpperCase())))],
      },
    ],
    [
      'a URI of another trust domain',
      {
        extensions: [
          constraints,
          usage,
          purpose,
          subjectAltName(uriName(deviceUri(tenantId, deviceId).replace('castellan', 'evil'))),
        ],
      },
    ],
    [
      'a subject of another device',
      { subject: distinguishedName({ organization: tenantId, commonName: randomUUID() }) },
    ],
    [
      'a subject of another tenant',
      { subject: distinguishedName({ organization: newTenant(), commonName: deviceId }) },
    ],
    ['a subject without a tenant', { subject: distinguishedName({ commonName: deviceId }) }],
    ['a subject with two common names', { subject: withTwoCommonNames() }],
  ])('is rejected although the authority signed it: %s', (_what, change) => {
    const presented = signLeaf(issuer, { ...sound, ...change });
    expect(readDeviceClaims(presented)).toBeUndefined();
    expect(verify(presented)).toEqual({ refused: 'not a device certificate' });
  });

  it('is rejected under an EC authority that signed it with an RSA algorithm identifier', () => {
    const algorithm = prepareCertificateIssuer(rsaAuthority()).algorithm;
    const presented = signedSequence({ ...issuer, algorithm }, tbsCertificate({ ...sound, algorithm }));
    expect(verify(presented)).toEqual({ refused: 'bad signature' });
  });

  it('may be the authority itself', () => {
    expect(verify(authority.certificatePem)).toEqual({ refused: 'not a device certificate' });
  });

  it('may contain an extension twice', () => {
    const presented = signLeaf(issuer, { ...sound, extensions: [...sound.extensions, alternative] });
    expect(verify(presented)).toEqual({ refused: 'malformed' });
  });

  it.each([
    ['nothing', ''],
    ['words', 'hello'],
    ['two certificates', device.certificatePem + device.certificatePem],
    ['a key', device.privateKeyPem],
    ['PEM with a stray character', device.certificatePem.replace('MII', 'M-II')],
    ['no octets', new Uint8Array()],
    ['octets after the certificate', Buffer.concat([firstCertificate(device.certificatePem), Buffer.of(0)])],
    ['more than anyone has to present', `${device.certificatePem}${'\n'.repeat(16 * 1024)}`],
  ])('may be %s', (_what, presented) => {
    expect(readDeviceClaims(presented)).toBeUndefined();
    expect(verify(presented)).toEqual({ refused: 'malformed' });
  });
});

describe('trusting an authority', () => {
  it('fails on an invalid certificate: only accepted ones are stored', () => {
    expect(() => trustAuthority(tenantId, 'nothing')).toThrow(TypeError);
    expect(() => trustAuthority(tenantId, authority.privateKeyPem)).toThrow(TypeError);
  });

  it('records its expiry', () => {
    expect(trusted.notAfter).toBe(authority.expiresAt);
    expect(trusted.notAfter - NOW).toBeGreaterThan(3650 * DAY);
  });
});
