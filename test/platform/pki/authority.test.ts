import { X509Certificate, createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../../src/platform/pki/authority.ts';
import { readCertificate } from '../../../src/platform/pki/certificate.ts';
import { OID } from '../../../src/platform/pki/object-identifiers.ts';
import { firstCertificate } from '../../../src/platform/pki/pem.ts';
import { DAY, NOW, newAuthority } from './fixtures.ts';
import { hasOpenssl, openssl, withOpenssl } from './openssl.ts';

describe('a generated authority', () => {
  const authority = newAuthority();
  const certificate = new X509Certificate(authority.certificatePem);

  it('is a self-signed P-256 root with its key', () => {
    expect(certificate.ca).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(authority.privateKeyPem))).toBe(true);
  });

  it('is described as in its certificate', () => {
    expect(authority.subject).toBe('O=Acme, CN=Acme CA');
    expect(authority.serialNumber).toBe(certificate.serialNumber);
    expect(authority.fingerprintSha256).toBe(certificate.fingerprint256.replaceAll(':', '').toLowerCase());
    expect(authority.notBefore).toBe(Date.parse(certificate.validFrom));
    expect(authority.expiresAt).toBe(Date.parse(certificate.validTo));
  });

  it('is valid for ten years to the day, from five minutes ago for slow clocks', () => {
    expect(authority.expiresAt).toBe(Date.UTC(2037, 4, 3, 12));
    expect(authority.notBefore).toBe(NOW - 5 * 60_000);
  });

  it('has a positive serial number of 20 octets, whatever the random source returns', () => {
    const serialOf = (octet: number): string =>
      createAuthority({
        commonName: 'CA',
        organization: '',
        years: 1,
        now: NOW,
        rng: (size) => Buffer.alloc(size, octet),
      }).serialNumber;
    expect(serialOf(0xff)).toBe(`7F${'FF'.repeat(19)}`);
    expect(serialOf(0x00)).toBe(`40${'00'.repeat(19)}`);
    expect(newAuthority().serialNumber).not.toBe(newAuthority().serialNumber);
  });

  it('accepts names of any script, cut to the 64 characters that X.520 allows', () => {
    const named = createAuthority({
      commonName: '城'.repeat(80),
      organization: 'Łódź, "A+B" <=;\n#',
      years: 1,
      now: NOW,
    });
    expect(named.subject).toContain(`CN=${'城'.repeat(64)}`);
    expect(named.subject).not.toContain('城'.repeat(65));
    expect(named.subject).not.toContain('\n');
    expect(named.subject).toContain('Łódź');
  });

  it('cuts its keyUsage after the last set bit, as DER requires of named bits', () => {
    const usage = readCertificate(firstCertificate(authority.certificatePem)).extensions.get(OID.keyUsage.hex);
    expect(usage?.critical).toBe(true);
    expect(usage?.value.toString('hex')).toBe('03020106');
  });

  it('needs a common name', () => {
    expect(() => createAuthority({ commonName: '', organization: 'Acme', years: 1, now: NOW })).toThrow(TypeError);
  });

  it('writes dates from 2050 so that all readers agree on them', () => {
    const late = createAuthority({
      commonName: 'CA',
      organization: 'Acme',
      years: 10,
      now: Date.UTC(2045, 0, 31, 1, 2, 3),
    });
    expect(new X509Certificate(late.certificatePem).validTo).toBe('Jan 31 01:02:03 2055 GMT');
    expect(late.expiresAt).toBe(Date.UTC(2055, 0, 31, 1, 2, 3));
  });

  it.skipIf(!hasOpenssl)(
    withOpenssl('satisfies openssl verify -x509_strict and shows the extensions of a root'),
    () => {
      const current = newAuthority(Date.now());
      const files = { 'ca.pem': current.certificatePem, 'ca.key': current.privateKeyPem };
      expect(openssl(['verify', '-x509_strict', '-check_ss_sig', '-CAfile', 'ca.pem', 'ca.pem'], files)).toMatchObject({
        ok: true,
      });
      const { output } = openssl(['x509', '-in', 'ca.pem', '-noout', '-text'], files);
      expect(output).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
      expect(output).toMatch(/Key Usage: critical\s+Certificate Sign, CRL Sign/);
      expect(output).toMatch(/Subject Key Identifier:\s+([0-9A-F:]{59})\s+X509v3 Authority Key Identifier:\s+\1/);
      expect(openssl(['pkey', '-in', 'ca.key', '-check', '-noout'], files)).toMatchObject({ ok: true });
    },
  );

  it('is refused a validity that no date can express', () => {
    expect(() => createAuthority({ commonName: 'CA', organization: '', years: 9000, now: NOW })).toThrow(RangeError);
    expect(() => createAuthority({ commonName: 'CA', organization: '', years: -1, now: NOW + DAY })).toThrow(
      RangeError,
    );
  });
});
