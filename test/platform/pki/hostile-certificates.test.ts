import { X509Certificate, createPrivateKey, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readDeviceClaims,
  trustAuthority,
  verifyDeviceCertificate,
} from '../../../src/platform/pki/device-identity.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { firstCertificate, pem, pemBlocks } from '../../../src/platform/pki/pem.ts';
import { keysMatch } from '../../../src/platform/pki/signature-algorithm.ts';
import { inspectAuthority } from '../../../src/platform/pki/uploaded-authority.ts';
import { inspectServerCertificate } from '../../../src/platform/pki/uploaded-server-certificate.ts';
import { NOW, issued, newAuthority, newTenant, rsaAuthority } from './fixtures.ts';

const tenantId = newTenant();
const generated = newAuthority();
const rsa = rsaAuthority();
const device = issued(prepareCertificateIssuer(generated), { tenantId, deviceId: randomUUID() });
const deviceUnderRsa = issued(prepareCertificateIssuer(rsa), { tenantId, deviceId: randomUUID() });
const trusted = [generated, rsa].map(({ certificatePem }) => trustAuthority(tenantId, certificatePem));

/** One way to corrupt octets. The result may equal the original; properties allow for that. */
const spoilt = (original: Buffer): fc.Arbitrary<Buffer> => {
  const at = fc.nat(original.length - 1);
  const flips = fc
    .array(fc.tuple(at, fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 })
    .map((changes) => {
      const copy = Buffer.from(original);
      for (const [index, bits] of changes) copy[index] = (copy[index] ?? 0) ^ bits;
      return copy;
    });
  const cut = at.map((end) => original.subarray(0, end));
  const splice = fc
    .tuple(at, at, fc.uint8Array({ maxLength: 12 }))
    .map(([from, length, octets]) =>
      Buffer.concat([original.subarray(0, from), octets, original.subarray(from + (length % 16))]),
    );
  const doubled = fc
    .tuple(at, at)
    .map(([from, length]) => Buffer.concat([original.subarray(0, from + (length % 64)), original.subarray(from)]));
  return fc.oneof({ weight: 4, arbitrary: flips }, cut, splice, doubled);
};

const spoiltText = (original: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(original.length - 1), fc.nat(6), fc.string({ unit: 'binary', maxLength: 6 }))
    .map(([from, length, text]) => original.slice(0, from) + text + original.slice(from + length));

const isOriginal = (text: string, original: string): boolean =>
  pemBlocks(text, 'CERTIFICATE')?.[0]?.equals(firstCertificate(original)) === true;

describe('a corrupted device certificate', () => {
  it.each([
    ['P-256', device.certificatePem],
    ['RSA', deviceUnderRsa.certificatePem],
  ])('under a %s authority never throws and never proves anything', (_which, certificatePem) => {
    const original = firstCertificate(certificatePem);
    expect(verifyDeviceCertificate(original, trusted, NOW)).toMatchObject({ verified: true });
    fc.assert(
      fc.property(spoilt(original), (octets) => {
        readDeviceClaims(octets);
        const verdict = verifyDeviceCertificate(octets, trusted, NOW);
        return 'refused' in verdict || octets.equals(original);
      }),
      { numRuns: 1500 },
    );
  });

  it('as PEM never throws, and proves something only if the certificate itself is intact', () => {
    fc.assert(
      fc.property(spoiltText(device.certificatePem), (text) => {
        readDeviceClaims(text);
        return 'refused' in verifyDeviceCertificate(text, trusted, NOW) || isOriginal(text, device.certificatePem);
      }),
      { numRuns: 1000 },
    );
  });

  it('of random octets never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 600 }), fc.string({ unit: 'binary', maxLength: 600 })),
        (garbage) => {
          return readDeviceClaims(garbage) === undefined && 'refused' in verifyDeviceCertificate(garbage, trusted, NOW);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('a corrupted upload', () => {
  it.each([
    ['P-256', generated],
    ['RSA', rsa],
  ])('of a %s authority never throws and is never accepted', (_which, { certificatePem, privateKeyPem }) => {
    const original = firstCertificate(certificatePem);
    expect(inspectAuthority(certificatePem, privateKeyPem, NOW)).not.toHaveProperty('failed');
    fc.assert(
      fc.property(spoilt(original), (octets) => {
        const answer = inspectAuthority(pem('CERTIFICATE', octets), privateKeyPem, NOW);
        return 'failed' in answer || octets.equals(original);
      }),
      { numRuns: 500 },
    );
  });

  it("of an authority's PEM never throws, and is accepted only if the certificate itself is intact", () => {
    fc.assert(
      fc.property(spoiltText(generated.certificatePem), (text) => {
        const answer = inspectAuthority(text, generated.privateKeyPem, NOW);
        return 'failed' in answer || isOriginal(text, generated.certificatePem);
      }),
      { numRuns: 300 },
    );
  });

  it('of a private key never throws, and is accepted only if it signs for the certificate', () => {
    const { publicKey } = new X509Certificate(generated.certificatePem);
    const original = firstCertificate(generated.privateKeyPem.replaceAll('PRIVATE KEY', 'CERTIFICATE'));
    fc.assert(
      fc.property(spoilt(original), (octets) => {
        const answer = inspectAuthority(generated.certificatePem, pem('PRIVATE KEY', octets), NOW);
        return 'failed' in answer || keysMatch(createPrivateKey(answer.privateKeyPem), publicKey);
      }),
      { numRuns: 300 },
    );
  });

  it('of a server certificate and chain never throws', () => {
    fc.assert(
      fc.property(spoilt(firstCertificate(generated.certificatePem)), fc.string({ maxLength: 200 }), (octets, text) => {
        inspectServerCertificate({ certificate: pem('CERTIFICATE', octets), privateKey: text, chain: text }, NOW);
        inspectServerCertificate({ certificate: text, privateKey: text }, NOW);
      }),
      { numRuns: 300 },
    );
  });
});
