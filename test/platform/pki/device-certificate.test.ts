import { X509Certificate, createHash, createPrivateKey, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../../src/platform/pki/authority.ts';
import { readCertificate } from '../../../src/platform/pki/certificate.ts';
import { issueDeviceCertificate } from '../../../src/platform/pki/device-certificate.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { OID } from '../../../src/platform/pki/object-identifiers.ts';
import { firstCertificate } from '../../../src/platform/pki/pem.ts';
import { DAY, NOW, issued, newAuthority, newTenant, rsaAuthority } from './fixtures.ts';
import { hasOpenssl, openssl, selfSignedByOpenssl, withOpenssl } from './openssl.ts';

const authority = newAuthority();
const issuer = prepareCertificateIssuer(authority);

describe('a device certificate', () => {
  const tenantId = newTenant();
  const deviceId = randomUUID();
  const device = issued(issuer, { tenantId, deviceId });
  const certificate = new X509Certificate(device.certificatePem);

  it('names the device and its tenant, in the subject and as a URI', () => {
    expect(certificate.subject).toBe(`O=${tenantId}\nCN=${deviceId}`);
    expect(certificate.subjectAltName).toBe(`URI:spiffe://castellan/tenant/${tenantId}/device/${deviceId}`);
  });

  it('is signed by the authority for a P-256 key that is returned with it', () => {
    const ca = new X509Certificate(authority.certificatePem);
    expect(certificate.checkIssued(ca)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(certificate.checkPrivateKey(createPrivateKey(device.privateKeyPem))).toBe(true);
  });

  it('is valid for TLS clients and not as an authority', () => {
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('is returned with exactly its contents', () => {
    expect(device.serialNumber).toBe(certificate.serialNumber);
    expect(device.fingerprintSha256).toBe(certificate.fingerprint256.replaceAll(':', '').toLowerCase());
    expect(device.notBefore).toBe(Date.parse(certificate.validFrom));
    expect(device.notAfter).toBe(Date.parse(certificate.validTo));
  });

  it('shares neither serial number nor key with the next one for the same device', () => {
    const next = issued(issuer, { tenantId, deviceId });
    expect(next.serialNumber).not.toBe(device.serialNumber);
    expect(new X509Certificate(next.certificatePem).checkPrivateKey(createPrivateKey(device.privateKeyPem))).toBe(
      false,
    );
  });

  it('contains ids in lower case, whatever their case in the input', () => {
    const shouted = issued(issuer, { tenantId, deviceId: deviceId.toUpperCase() });
    expect(new X509Certificate(shouted.certificatePem).subject).toBe(certificate.subject);
  });

  it('is never issued for an id that is not a UUID', () => {
    for (const hostile of ['', 'x', `${deviceId}/../x`, `${deviceId}\n`, `${'a'.repeat(36)}`]) {
      expect(() => issued(issuer, { deviceId: hostile })).toThrow(TypeError);
    }
  });
});

describe('the key identifiers of a device certificate', () => {
  const SPKI_PREFIX = { ec: 26, rsa: 24 };
  /** RFC 7093 §2, method 1, computed independently. */
  const identifierOf = (certificatePem: string, kind: keyof typeof SPKI_PREFIX): string => {
    const publicKey = new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(publicKey.subarray(SPKI_PREFIX[kind])).digest('hex').slice(0, 40);
  };
  const identifiers = (certificatePem: string): (string | undefined)[] => {
    const { extensions } = readCertificate(firstCertificate(certificatePem));
    return [OID.subjectKeyIdentifier, OID.authorityKeyIdentifier].map(({ hex }) =>
      extensions.get(hex)?.value.toString('hex').slice(-40),
    );
  };

  it('are the hash of its own key and the identifier of its authority', () => {
    const { certificatePem } = issued(issuer);
    expect(identifiers(certificatePem)).toEqual([
      identifierOf(certificatePem, 'ec'),
      identifierOf(authority.certificatePem, 'ec'),
    ]);
    const foreign = rsaAuthority();
    const [ownName] = identifiers(foreign.certificatePem);
    expect(identifiers(issued(prepareCertificateIssuer(foreign)).certificatePem)[1]).toBe(ownName);
    expect(ownName).not.toBe(identifierOf(foreign.certificatePem, 'rsa'));
  });

  it("use the hash of the authority's key if the authority has no identifier", () => {
    const nameless = rsaAuthority({ withoutIdentifiers: true });
    expect(identifiers(nameless.certificatePem)).toEqual([undefined, undefined]);
    expect(identifiers(issued(prepareCertificateIssuer(nameless)).certificatePem)[1]).toBe(
      identifierOf(nameless.certificatePem, 'rsa'),
    );
  });
});

describe('the validity of a device certificate', () => {
  it('begins five minutes early and ends on the requested second', () => {
    const device = issued(issuer, { notBefore: NOW + DAY + 999, notAfter: NOW + 365 * DAY + 999 });
    expect(device.notBefore).toBe(NOW + DAY - 5 * 60_000);
    expect(device.notAfter).toBe(NOW + 365 * DAY);
  });

  it('stays within that of its authority', () => {
    const device = issued(issuer, { notBefore: NOW, notAfter: NOW + 100 * 365 * DAY });
    expect(device.notAfter).toBe(authority.expiresAt);
    const young = prepareCertificateIssuer(rsaAuthority({ notBefore: NOW - 1000 }));
    expect(issued(young).notBefore).toBe(NOW - 1000);
  });

  it.each([
    ['an expired', authority.expiresAt + 1000],
    ['a future', authority.notBefore - 1000],
  ])('cannot begin under %s authority', (_which, at) => {
    const request = { tenantId: newTenant(), deviceId: randomUUID(), notBefore: at, notAfter: at + DAY };
    expect(issueDeviceCertificate(issuer, request)).toMatchObject({ failed: true, kind: 'unavailable' });
  });

  it('cannot end before it begins', () => {
    expect(() => issued(issuer, { notBefore: NOW, notAfter: NOW })).toThrow(RangeError);
    expect(() => issued(issuer, { notBefore: NOW, notAfter: NaN })).toThrow(RangeError);
  });

  it('is read alike on both sides of 2050, with one issuer writing both forms in turn', () => {
    const old = prepareCertificateIssuer(
      createAuthority({ commonName: 'CA', organization: 'Acme', years: 30, now: Date.UTC(2040, 0, 1) }),
    );
    const ends = [Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1), Date.UTC(2049, 5, 1), Date.UTC(2055, 0, 1)];
    for (const notAfter of ends) {
      const device = issued(old, { notBefore: Date.UTC(2049, 0, 1), notAfter });
      expect(Date.parse(new X509Certificate(device.certificatePem).validTo)).toBe(notAfter);
    }
    const late = issued(old, { notBefore: Date.UTC(2060, 0, 1), notAfter: Date.UTC(2061, 0, 1) });
    expect(new X509Certificate(late.certificatePem).validFrom).toBe('Dec 31 23:55:00 2059 GMT');
  });
});

describe('an issuer', () => {
  it("rejects a key that is not the authority's", () => {
    const { privateKeyPem } = newAuthority();
    expect(() => prepareCertificateIssuer({ certificatePem: authority.certificatePem, privateKeyPem })).toThrow(
      TypeError,
    );
    expect(() => prepareCertificateIssuer({ certificatePem: 'nothing', privateKeyPem })).toThrow(TypeError);
  });

  it('with RSA signs P-256 leaves that name it exactly as in its own certificate', () => {
    const rsa = rsaAuthority();
    const ca = new X509Certificate(rsa.certificatePem);
    const leaf = new X509Certificate(issued(prepareCertificateIssuer(rsa)).certificatePem);
    expect(leaf.verify(ca.publicKey)).toBe(true);
    expect(leaf.checkIssued(ca)).toBe(true);
    expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });
});

describe.skipIf(!hasOpenssl)(withOpenssl('openssl verify -x509_strict -purpose sslclient'), () => {
  const verify = ['verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', 'ca.pem', 'device.pem'];
  const current = { notBefore: Date.now(), notAfter: Date.now() + DAY };

  it('accepts a device under a generated authority, with the extensions of the profile', () => {
    const ca = newAuthority(Date.now());
    const files = {
      'ca.pem': ca.certificatePem,
      'device.pem': issued(prepareCertificateIssuer(ca), current).certificatePem,
    };
    expect(openssl(verify, files)).toMatchObject({ ok: true });
    const { output } = openssl(['x509', '-in', 'device.pem', '-noout', '-text'], files);
    expect(output).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(output).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(output).toMatch(/Extended Key Usage:\s+TLS Web Client Authentication\n/);
    expect(output).toMatch(/Subject Key Identifier:/);
    expect(output).toMatch(/Authority Key Identifier:/);
  });

  it('rejects it as a server, and under another authority of the same name', () => {
    const [ca, namesake] = [newAuthority(Date.now()), newAuthority(Date.now())];
    const device = issued(prepareCertificateIssuer(ca), current).certificatePem;
    const asServer = ['verify', '-purpose', 'sslserver', '-CAfile', 'ca.pem', 'device.pem'];
    expect(openssl(asServer, { 'ca.pem': ca.certificatePem, 'device.pem': device })).toMatchObject({ ok: false });
    expect(openssl(verify, { 'ca.pem': namesake.certificatePem, 'device.pem': device })).toMatchObject({ ok: false });
  });

  it.each([
    ['RSA of 3072 bits', ['-newkey', 'rsa:3072']],
    ['P-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['P-521', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521']],
    ['a longer name', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', '/C=DE/O=Acme/CN=x']],
  ])('accepts a device under an authority that openssl generated: %s', (_what, args) => {
    const { cert, key } = selfSignedByOpenssl(...args, '-addext', 'keyUsage=critical,keyCertSign,cRLSign');
    const device = issued(prepareCertificateIssuer({ certificatePem: cert, privateKeyPem: key }), {
      ...current,
      notBefore: Date.now() + 1000,
    });
    expect(openssl(verify, { 'ca.pem': cert, 'device.pem': device.certificatePem })).toMatchObject({ ok: true });
  });
});
