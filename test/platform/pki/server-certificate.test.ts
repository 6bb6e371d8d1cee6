import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/platform/kernel/failure.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import type { ServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { inspectServerCertificate } from '../../../src/platform/pki/uploaded-server-certificate.ts';
import { DAY, NOW, issued, newAuthority, rsaAuthority } from './fixtures.ts';
import { hasOpenssl, openssl, selfSignedByOpenssl, withOpenssl } from './openssl.ts';

const request = {
  hostNames: ['castellan.example', '*.castellan.example'],
  ipAddresses: ['127.0.0.1', '::1'],
  now: NOW,
  days: 90,
};
const refusal = (answer: ServerCertificate | Failure): string => ('failed' in answer ? answer.message : 'accepted');

describe('a self-signed server certificate', () => {
  const server = issueServerCertificate(request);
  const certificate = new X509Certificate(server.certificatePem);

  it('is valid for every name and address, and for no other', () => {
    expect(certificate.checkHost('castellan.example')).toBe('castellan.example');
    expect(certificate.checkHost('a.castellan.example')).toBeTruthy();
    expect(certificate.checkHost('evil.example')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkIP('::1')).toBe('::1');
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
  });

  it('is for servers, not an authority, and is valid for the requested number of days', () => {
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.ca).toBe(false);
    expect(server.expiresAt).toBe(NOW + 90 * DAY);
    expect(Date.parse(certificate.validTo)).toBe(server.expiresAt);
  });

  it('passes the checks of uploads', () => {
    expect(
      inspectServerCertificate({ certificate: server.certificatePem, privateKey: server.privateKeyPem }, NOW),
    ).toEqual(server);
  });

  it.each([
    '',
    'a b',
    'exa\u0000mple',
    '-x.example',
    'x..example',
    'bücher.example',
    'a.*.example',
    `${'a'.repeat(64)}.example`,
  ])('is not issued for the host name %j', (host) => {
    expect(() => issueServerCertificate({ ...request, hostNames: [host] })).toThrow(TypeError);
  });

  it('is not issued for an invalid address, or without names', () => {
    for (const address of ['localhost', '127.1', '1.2.3.256', '', ':::1']) {
      expect(() => issueServerCertificate({ ...request, ipAddresses: [address] })).toThrow(TypeError);
    }
    expect(() => issueServerCertificate({ ...request, hostNames: [], ipAddresses: [] })).toThrow(TypeError);
  });

  it.skipIf(!hasOpenssl)(withOpenssl('satisfies openssl verify -x509_strict -purpose sslserver for its names'), () => {
    const { certificatePem } = issueServerCertificate({ ...request, now: Date.now() });
    const verify = (...args: string[]) =>
      openssl(['verify', '-x509_strict', '-purpose', 'sslserver', ...args, '-CAfile', 's.pem', 's.pem'], {
        's.pem': certificatePem,
      });
    expect(verify('-verify_hostname', 'castellan.example')).toMatchObject({ ok: true });
    expect(verify('-verify_ip', '::1')).toMatchObject({ ok: true });
    expect(verify('-verify_hostname', 'evil.example')).toMatchObject({ ok: false });
  });
});

describe('an uploaded server certificate', () => {
  const root = rsaAuthority({ commonName: 'Root', digest: 'sha1' });
  const middle = rsaAuthority({ commonName: 'Middle', parent: rsaAuthority({ commonName: 'Other' }) });
  const server = (parent = root) =>
    rsaAuthority({ commonName: 'castellan.example', parent, extensions: [{ name: 'extKeyUsage', serverAuth: true }] });
  const upload = (
    { certificatePem, privateKeyPem }: { certificatePem: string; privateKeyPem: string },
    chain?: string,
  ) => inspectServerCertificate({ certificate: certificatePem, privateKey: privateKeyPem, chain }, NOW);

  it('may come alone, without its chain', () => {
    const answer = upload(server()) as ServerCertificate;
    expect(answer.subject).toBe('O=Acme, CN=castellan.example');
    expect(answer.issuer).toBe('O=Acme, CN=Root');
    expect(refusal(upload(server(), ' \n'))).toBe('accepted');
  });

  it('may come with its chain in the same file or another; the signature of a final root is not checked', () => {
    const own = server();
    const beside = upload(own, root.certificatePem) as ServerCertificate;
    expect(beside.certificatePem).toBe(
      own.certificatePem.replaceAll('\r', '') + root.certificatePem.replaceAll('\r', ''),
    );
    expect(upload({ ...own, certificatePem: own.certificatePem + root.certificatePem })).toEqual(beside);
  });

  it('is rejected with a chain that did not sign it', () => {
    const reason = 'validation failed: certificate: each certificate must be followed by the one that signed it';
    expect(refusal(upload(server(), middle.certificatePem))).toBe(reason);
    expect(refusal(upload(server(middle), root.certificatePem + middle.certificatePem))).toBe(reason);
  });

  it('is rejected with an invalid or weak chain', () => {
    expect(refusal(upload(server(), 'hello'))).toBe('validation failed: chain: must be a PEM certificate');
    const weak = rsaAuthority({ bits: 1024, commonName: 'Weak' });
    expect(refusal(upload(server(weak), weak.certificatePem))).toBe(
      'validation failed: chain: RSA key is shorter than 2048 bits',
    );
  });

  it('is rejected with everything that is wrong with its texts', () => {
    const fieldsOf = (own: { certificatePem: string; privateKeyPem: string }, chain?: string) => {
      const inspected = upload(own, chain);
      return 'failed' in inspected ? inspected.fields?.map(({ field }) => field) : [];
    };
    const wrong = { certificatePem: 'hello', privateKeyPem: 'hello' };
    expect(fieldsOf(wrong, 'hello')).toEqual(['certificate', 'chain', 'privateKey']);
    expect(fieldsOf({ ...server(), privateKeyPem: 'hello' }, 'hello')).toEqual(['chain', 'privateKey']);
    const weak = rsaAuthority({ bits: 1024, commonName: 'Weak' });
    expect(fieldsOf({ ...weak, privateKeyPem: 'hello' }, weak.certificatePem)).toEqual([
      'certificate',
      'chain',
      'privateKey',
    ]);
  });

  it('is rejected with another key, when it has expired, and when it is for clients', () => {
    const own = server();
    expect(refusal(upload({ ...own, privateKeyPem: server().privateKeyPem }))).toBe(
      'validation failed: privateKey: does not match the certificate',
    );
    const later = inspectServerCertificate(
      { certificate: own.certificatePem, privateKey: own.privateKeyPem },
      NOW + 3651 * DAY,
    );
    expect(refusal(later)).toBe('validation failed: certificate: has expired');
    expect(refusal(upload(issued(prepareCertificateIssuer(newAuthority()))))).toBe(
      'validation failed: certificate: extendedKeyUsage does not include serverAuth',
    );
  });

  it.skipIf(!hasOpenssl)(withOpenssl('may be what openssl req -x509 makes without further ado'), () => {
    const { cert, key } = selfSignedByOpenssl('-newkey', 'rsa:2048', '-subj', '/CN=localhost');
    expect(refusal(inspectServerCertificate({ certificate: cert, privateKey: key }, Date.now() + 1000))).toBe(
      'accepted',
    );
  });
});
