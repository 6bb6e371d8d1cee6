import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  forwardedCertificate,
  type ClientCertificateHeader,
} from '../../../src/app/http/plugins/forwarded-certificate.ts';
import { PrivateAuthority } from '../../fixtures/eventstoredb/certificates.ts';

const pem = new PrivateAuthority().issue('device').certificatePem;
const { raw, fingerprint256 } = new X509Certificate(pem);
const base64 = raw.toString('base64');

const fingerprint = (name: ClientCertificateHeader, value: string): string | undefined => {
  const certificate = forwardedCertificate(name, value);
  return certificate === undefined ? undefined : new X509Certificate(certificate).fingerprint256;
};

describe('the client certificate that a proxy passes on', () => {
  it.each([
    ['nginx', 'X-Client-Cert', encodeURIComponent(pem)],
    ['Caddy, HAProxy', 'X-Client-Cert', base64],
    ['Traefik', 'X-Client-Cert', encodeURIComponent(base64)],
    ['RFC 9440', 'Client-Cert', `:${base64}:`],
  ] as const)('is read in the form of %s', (_, name, value) => {
    expect(fingerprint(name, value)).toBe(fingerprint256);
  });

  it.each([
    ['the other form', 'Client-Cert', encodeURIComponent(pem)],
    ['a list', 'Client-Cert', `:${base64}:, :${base64}:`],
    ['no item', 'Client-Cert', ''],
    ['half an escape', 'X-Client-Cert', '%E0%A'],
    ['more than a certificate needs', 'X-Client-Cert', 'A'.repeat(16_385)],
  ] as const)('is not read from %s', (_, name, value) => {
    expect(forwardedCertificate(name, value)).toBeUndefined();
  });
});
