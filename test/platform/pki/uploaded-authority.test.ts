import { X509Certificate, createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/platform/kernel/failure.ts';
import { createAuthority } from '../../../src/platform/pki/authority.ts';
import type { Authority } from '../../../src/platform/pki/authority.ts';
import { octetString, sequence } from '../../../src/platform/pki/der.ts';
import { distinguishedName } from '../../../src/platform/pki/distinguished-name.ts';
import { KEY_USAGE, basicConstraintsOfAuthority, keyUsage } from '../../../src/platform/pki/extension-writing.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { generateKeyPair } from '../../../src/platform/pki/key-pair.ts';
import { OID } from '../../../src/platform/pki/object-identifiers.ts';
import type { ObjectIdentifier } from '../../../src/platform/pki/object-identifiers.ts';
import { pem } from '../../../src/platform/pki/pem.ts';
import { inspectAuthority } from '../../../src/platform/pki/uploaded-authority.ts';
import { DAY, NOW, issued, leafContents, newAuthority, rsaAuthority, signLeaf } from './fixtures.ts';
import type { RsaRequest } from './fixtures.ts';
import { hasOpenssl, selfSignedByOpenssl, withOpenssl } from './openssl.ts';

const inspect = ({ certificatePem, privateKeyPem }: { certificatePem: string; privateKeyPem: string }, now = NOW) =>
  inspectAuthority(certificatePem, privateKeyPem, now);
const refusal = (answer: Authority | Failure): string =>
  'failed' in answer ? `${answer.kind}: ${answer.message}` : 'accepted';
const certificateRefused = (reason: string): string => `invalid: validation failed: certificate: ${reason}`;
const keyRefused = (reason: string): string => `invalid: validation failed: privateKey: ${reason}`;

const generated = newAuthority();
const authorityExtensions = [basicConstraintsOfAuthority(), keyUsage(KEY_USAGE.keyCertSign)];
const unreadable = ({ node }: ObjectIdentifier) => sequence(node, octetString(Buffer.from('0500', 'hex')));
const unreadableIdentifier = unreadable(OID.subjectKeyIdentifier);
const asPem = (der: Buffer, privateKeyPem: string) => ({ certificatePem: pem('CERTIFICATE', der), privateKeyPem });
const usage = { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true };
const isCa = { name: 'basicConstraints', cA: true, critical: true };

describe('an uploaded authority', () => {
  it('is accepted as it was generated, and described by its certificate', () => {
    expect(inspect(generated)).toEqual(generated);
  });

  it('may be RSA, with a PKCS#1 key, which is converted to PKCS#8', () => {
    const rsa = rsaAuthority();
    const answer = inspect(rsa) as Authority;
    const certificate = new X509Certificate(rsa.certificatePem);
    expect(answer.subject).toBe('O=Acme, CN=RSA CA');
    expect(answer.serialNumber).toBe(certificate.serialNumber);
    expect(answer.expiresAt).toBe(Date.parse(certificate.validTo));
    expect(answer.privateKeyPem).toContain('BEGIN PRIVATE KEY');
    expect(certificate.checkPrivateKey(createPrivateKey(answer.privateKeyPem))).toBe(true);
    expect(issued(prepareCertificateIssuer(answer)).certificatePem).toContain('BEGIN CERTIFICATE');
  });

  it('may lack keyUsage, which then permits everything', () => {
    expect(refusal(inspect(rsaAuthority({ extensions: [isCa] })))).toBe('accepted');
  });

  it('is stored without other contents of the files', () => {
    const certificatePem = `Bag Attributes\n${generated.privateKeyPem}${generated.certificatePem}trailing words`;
    const privateKeyPem = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${generated.privateKeyPem}`;
    expect(inspect({ certificatePem, privateKeyPem })).toEqual(generated);
  });

  it('may be an intermediate that includes its issuer', () => {
    const root = rsaAuthority({ commonName: 'Root' });
    const intermediate = rsaAuthority({ parent: root, commonName: 'Intermediate' });
    expect(refusal(inspect(intermediate))).toBe(
      certificateRefused('is not self-signed, or damaged; append the certificate of its issuer'),
    );
    const bundle = { ...intermediate, certificatePem: intermediate.certificatePem + root.certificatePem };
    const answer = inspect(bundle) as Authority;
    expect(answer.subject).toBe('O=Acme, CN=Intermediate');
    expect(answer.issuer).toBe('O=Acme, CN=Root');
    expect(answer.certificatePem.match(/BEGIN/g)).toHaveLength(2);
    const stranger = {
      ...intermediate,
      certificatePem: intermediate.certificatePem + rsaAuthority({ commonName: 'Root' }).certificatePem,
    };
    expect(refusal(inspect(stranger))).toBe(
      certificateRefused('each certificate must be followed by the one that signed it'),
    );
  });
});

describe('an uploaded authority is rejected', () => {
  const { certificatePem, privateKeyPem } = generated;
  const leaf = issued(prepareCertificateIssuer(generated));

  it.each([
    ['a certificate that is not PEM', 'hello', privateKeyPem, certificateRefused('must be a PEM certificate')],
    ['an empty certificate', '', privateKeyPem, certificateRefused('must be a PEM certificate')],
    ['PEM of something else', privateKeyPem, privateKeyPem, certificateRefused('must be a PEM certificate')],
    [
      'PEM with corrupted Base64',
      certificatePem.replace('MII', 'M*I'),
      privateKeyPem,
      certificateRefused('must be a PEM certificate'),
    ],
    [
      'PEM around no certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      privateKeyPem,
      certificateRefused('must be an X.509 v3 certificate'),
    ],
    [
      'a certificate of more than 64 KiB',
      `${certificatePem}${'x'.repeat(65_536)}`,
      privateKeyPem,
      certificateRefused('must not exceed 64 KiB'),
    ],
    [
      'more than ten certificates',
      certificatePem.repeat(11),
      privateKeyPem,
      certificateRefused('must not hold more than 10 certificates'),
    ],
    [
      'a key of more than 64 KiB',
      certificatePem,
      `${privateKeyPem}${' '.repeat(65_536)}`,
      keyRefused('must not exceed 64 KiB'),
    ],
    ['a key that is not PEM', certificatePem, 'hello', keyRefused('must be a PEM private key')],
    ['a certificate in the key’s place', certificatePem, certificatePem, keyRefused('must be a PEM private key')],
    [
      'a key that is cut short',
      certificatePem,
      privateKeyPem.replace(/\n.*\n-----END/, '\n-----END'),
      keyRefused('cannot be read'),
    ],
    ['another key', certificatePem, newAuthority().privateKeyPem, keyRefused('does not match the certificate')],
    [
      'a key of another type',
      certificatePem,
      rsaAuthority().privateKeyPem,
      keyRefused('does not match the certificate'),
    ],
    ['a leaf', leaf.certificatePem, leaf.privateKeyPem, certificateRefused('is not a CA certificate')],
  ])('for %s', (_what, certificate, key, reason) => {
    expect(refusal(inspectAuthority(certificate, key, NOW))).toBe(reason);
  });

  it('for its certificate and its key at once', () => {
    const fieldsOf = (certificate: string, key: string, now = NOW) => {
      const inspected = inspectAuthority(certificate, key, now);
      return 'failed' in inspected ? inspected.fields?.map(({ field }) => field) : [];
    };
    expect(fieldsOf('hello', 'hello')).toEqual(['certificate', 'privateKey']);
    expect(fieldsOf(leaf.certificatePem, 'hello')).toEqual(['certificate', 'privateKey']);
    expect(fieldsOf(certificatePem, 'hello', NOW + 100_000 * DAY)).toEqual(['certificate', 'privateKey']);
    expect(fieldsOf('hello', privateKeyPem)).toEqual(['certificate']);
  });

  it.each([
    [
      'an encrypted PKCS#8 key',
      createPrivateKey(privateKeyPem).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'pw' }),
    ],
    [
      'an encrypted key of the older kind',
      createPrivateKey(privateKeyPem).export({ type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'pw' }),
    ],
  ])('for %s, and says so', (_what, key) => {
    expect(refusal(inspectAuthority(certificatePem, key as string, NOW))).toBe(
      keyRefused('is encrypted; upload it without a passphrase'),
    );
  });

  it.each<[string, RsaRequest, string]>([
    ['no basicConstraints', { extensions: [usage] }, 'is not a CA certificate'],
    ['cA false', { extensions: [{ name: 'basicConstraints', cA: false }, usage] }, 'is not a CA certificate'],
    [
      'no keyCertSign',
      { extensions: [isCa, { ...usage, keyCertSign: false }] },
      'keyUsage does not include keyCertSign',
    ],
    [
      'a purpose other than TLS clients',
      { extensions: [isCa, usage, { name: 'extKeyUsage', serverAuth: true }] },
      'extendedKeyUsage does not include clientAuth',
    ],
    ['an RSA key of 1024 bits', { bits: 1024 }, 'RSA key is shorter than 2048 bits'],
    ['a SHA-1 signature', { digest: 'sha1' }, 'signature algorithm is weak or unknown'],
    ['an end in the past', { notAfter: NOW - 1000 }, 'has expired'],
    ['a beginning in the future', { notBefore: NOW + 1000 }, 'is not yet valid'],
  ])('for %s', (_what, request, reason) => {
    expect(refusal(inspect(rsaAuthority(request)))).toBe(certificateRefused(reason));
  });

  it.each([
    ['an empty name', { issuer: sequence(), subject: sequence() }, 'subject is empty'],
    [
      'an identifier that cannot be read',
      { extensions: [...authorityExtensions, unreadableIdentifier] },
      'has unreadable extensions',
    ],
    [
      'a keyUsage that cannot be read',
      { extensions: [basicConstraintsOfAuthority(), unreadable(OID.keyUsage)] },
      'has unreadable extensions',
    ],
  ])('for %s', (_what, change, reason) => {
    const { publicPoint, privateKeyPem: key } = generateKeyPair();
    const own = { ...prepareCertificateIssuer(generated), privateKey: createPrivateKey(key) };
    const name = distinguishedName({ commonName: 'CA' });
    const sound = {
      ...leafContents(own, '', 'CA'),
      publicPoint,
      issuer: name,
      subject: name,
      extensions: authorityExtensions,
    };
    expect(refusal(inspect(asPem(signLeaf(own, sound), key)))).toBe('accepted');
    expect(refusal(inspect(asPem(signLeaf(own, { ...sound, ...change }), key)))).toBe(certificateRefused(reason));
  });

  it('on the second after its expiry, not on its last one', () => {
    const short = createAuthority({ commonName: 'CA', organization: '', years: 1, now: NOW });
    expect(refusal(inspect(short, short.expiresAt))).toBe('accepted');
    expect(refusal(inspect(short, short.expiresAt + 1))).toBe(certificateRefused('has expired'));
    expect(refusal(inspect(short, short.notBefore - 1))).toBe(certificateRefused('is not yet valid'));
  });

  it('without the key in the reason', () => {
    const wrong = newAuthority().privateKeyPem;
    expect(JSON.stringify(inspectAuthority(certificatePem, wrong, NOW))).not.toContain(wrong.slice(40, 60));
  });
});

describe.skipIf(!hasOpenssl)(withOpenssl('an authority that openssl made'), () => {
  const ec = (curve: string): string[] => ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`];
  const made = (...args: string[]): Authority | Failure => {
    const { cert, key } = selfSignedByOpenssl(...args);
    return inspectAuthority(cert, key, Date.now() + 1000);
  };

  it.each([
    ['P-256', ec('P-256')],
    ['P-384', [...ec('P-384'), '-sha384']],
    ['P-521', [...ec('P-521'), '-sha512']],
    ['RSA of 2048 bits', ['-newkey', 'rsa:2048']],
  ])('is accepted on %s', (_what, args) => {
    expect(refusal(made(...args))).toBe('accepted');
  });

  it.each([
    ['secp256k1', ec('secp256k1'), 'EC curve must be P-256, P-384 or P-521'],
    ['P-224', ec('P-224'), 'EC curve must be P-256, P-384 or P-521'],
    ['a curve spelled out', [...ec('P-256'), '-pkeyopt', 'ec_param_enc:explicit'], 'EC curve must be named'],
    ['Ed25519', ['-newkey', 'ed25519'], 'key must be RSA or EC'],
    ['an RSA key for PSS alone', ['-newkey', 'rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048'], 'key must be RSA or EC'],
    ['a SHA-1 signature', [...ec('P-256'), '-sha1'], 'signature algorithm is weak or unknown'],
  ])('is rejected for %s', (_what, args, reason) => {
    expect(refusal(made(...args))).toBe(certificateRefused(reason));
  });

  it('is rejected a day after its expiry', () => {
    const { cert, key } = selfSignedByOpenssl(...ec('P-256'), '-days', '1');
    expect(refusal(inspectAuthority(cert, key, Date.now() + 2 * DAY))).toBe(certificateRefused('has expired'));
  });
});
