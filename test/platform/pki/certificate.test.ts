import { X509Certificate, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ifReadable, readCertificate } from '../../../src/platform/pki/certificate.ts';
import { DerError, elements, readDer } from '../../../src/platform/pki/der-reader.ts';
import type { Element } from '../../../src/platform/pki/der-reader.ts';
import { embed, encode, explicit, unsignedInteger, sequence } from '../../../src/platform/pki/der.ts';
import type { Node } from '../../../src/platform/pki/der.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { firstCertificate } from '../../../src/platform/pki/pem.ts';
import { issued, newAuthority, newTenant, rsaAuthority } from './fixtures.ts';

const members = (der: Buffer): Element[] => elements(readDer(der).content);
const rebuilt = (parts: readonly Node[]): Buffer => encode(sequence(...parts));

describe('parsing a certificate', () => {
  const original = firstCertificate(
    issued(prepareCertificateIssuer(newAuthority()), { tenantId: newTenant(), deviceId: randomUUID() }).certificatePem,
  );
  const [tbs, algorithm, signature] = members(original).map(embed) as [Node, Node, Node];
  const inner = members(members(original)[0]?.der ?? Buffer.of()).map(embed);
  const withInner = (parts: readonly Node[]): Buffer => rebuilt([sequence(...parts), algorithm, signature]);

  it('finds the same as OpenSSL', () => {
    for (const certificatePem of [newAuthority().certificatePem, rsaAuthority().certificatePem]) {
      const x509 = new X509Certificate(certificatePem);
      const certificate = readCertificate(firstCertificate(certificatePem));
      expect(certificate.serialNumber).toBe(x509.serialNumber);
      expect(certificate.notBefore).toBe(Date.parse(x509.validFrom));
      expect(certificate.notAfter).toBe(Date.parse(x509.validTo));
      expect(certificate.publicKey.equals(x509.publicKey.export({ type: 'spki', format: 'der' }))).toBe(true);
      expect(certificate.subject.der.equals(certificate.issuer.der)).toBe(true);
    }
  });

  it('works on reassembled parts', () => {
    expect(withInner(inner).equals(original)).toBe(true);
    expect(readCertificate(withInner(inner)).tbs.equals(members(original)[0]?.der ?? Buffer.of())).toBe(true);
  });

  it.each([
    ['a fourth part after the signature', rebuilt([tbs, algorithm, signature, unsignedInteger(Buffer.of(1))])],
    ['no signature', rebuilt([tbs, algorithm])],
    ['an algorithm outside that is not the one inside', rebuilt([tbs, sequence(), signature])],
    ['a field after the extensions', withInner([...inner, unsignedInteger(Buffer.of(1))])],
    ['two sets of extensions', withInner([...inner, ...inner.slice(-1)])],
    ['no version, which means the first', withInner(inner.slice(1))],
    ['the second version', withInner([explicit(0, unsignedInteger(Buffer.of(1))), ...inner.slice(1)])],
    ['two versions', withInner([...inner.slice(0, 1), ...inner])],
    ['no public key', withInner([...inner.slice(0, 6), ...inner.slice(7)])],
  ])('rejects %s', (_what, der) => {
    expect(() => readCertificate(der)).toThrow(DerError);
    expect(ifReadable(() => readCertificate(der))).toBeUndefined();
  });

  it('passes errors through that do not concern DER', () => {
    expect(() =>
      ifReadable(() => {
        throw new RangeError('a bug');
      }),
    ).toThrow(RangeError);
  });
});
