import forge from 'node-forge';
import { expect, it } from 'vitest';
import { certificateBundle, providerCertificates } from '../../../src/contexts/sso/domain/fields.ts';
import { newAuthority } from '../../../src/platform/pki/new-authority.ts';

function rsaCertificate(bits: number): string {
  const { publicKey, privateKey } = forge.pki.rsa.generateKeyPair(bits);
  const certificate = forge.pki.createCertificate();
  Object.assign(certificate, { publicKey, serialNumber: '5a01' });
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  certificate.sign(privateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

it('a certificate with a short key is refused for its key, and for nothing else', () => {
  const reasons = (schema: typeof certificateBundle, text: string) =>
    schema.safeParse(text).error?.issues.map(({ message }) => message) ?? [];
  const weak = rsaCertificate(1_024);
  const short = 'must have RSA keys of at least 2048 bits, or EC keys';
  for (const schema of [certificateBundle, providerCertificates]) {
    expect(reasons(schema, weak)).toEqual([short]);
    expect(reasons(schema, rsaCertificate(2_048) + weak)).toEqual([short]);
    expect(reasons(schema, 'nothing')).toEqual(['must be X.509 certificates in PEM']);
    expect(reasons(schema, rsaCertificate(2_048))).toEqual([]);
  }
  expect(reasons(providerCertificates, newAuthority('elliptic', Date.now()).certificatePem)).toEqual([
    'must hold RSA keys',
  ]);
});
