import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { pkcs12 } from '../../../src/platform/pki/pkcs12.ts';
import { issued, newAuthority } from './fixtures.ts';
import { hasOpenssl, openssl, withOpenssl } from './openssl.ts';

const PASSWORD = 'correct-horse-battery';

describe('a PKCS#12 file', () => {
  const authority = newAuthority();
  const { certificatePem, privateKeyPem } = issued(prepareCertificateIssuer(authority));
  const contents = { certificatePem, privateKeyPem, caCertificatePem: authority.certificatePem, friendlyName: 'Ada' };
  const file = pkcs12(contents, PASSWORD);

  it('is accepted by a TLS client', () => {
    expect(() => createSecureContext({ pfx: file, passphrase: PASSWORD })).not.toThrow();
  });

  it.each([
    ['with another password', () => createSecureContext({ pfx: file, passphrase: `${PASSWORD}!` })],
    [
      'after a change of one octet',
      () => {
        const changed = Buffer.from(file);
        const at = changed.indexOf(new X509Certificate(certificatePem).raw) + 40;
        changed[at] = changed[at]! ^ 1;
        return createSecureContext({ pfx: changed, passphrase: PASSWORD });
      },
    ],
  ])('is refused %s', (_when, open) => {
    expect(open).toThrow(/mac/i);
  });

  it.skipIf(!hasOpenssl)(withOpenssl('holds the key, its certificate with a name, and the authority'), () => {
    const { ok, output } = openssl(['pkcs12', '-in', 'p12', '-passin', `pass:${PASSWORD}`, '-noenc', '-info'], {
      p12: file,
    });
    expect(ok, output).toBe(true);
    expect(output).toContain(privateKeyPem.trim().replaceAll('\n', '\n'));
    expect(output).toContain(certificatePem.trim());
    expect(output).toContain(authority.certificatePem.trim());
    expect(output).toContain('friendlyName: Ada');
    expect(output).toMatch(/Shrouded Keybag: PBES2, PBKDF2, AES-256-CBC/);
  });
});
