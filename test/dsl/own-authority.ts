import forge from 'node-forge';
import { rsaKeyPem } from './rsa-keys.ts';

const DAY_MS = 86_400_000;

/** A certificate that is its own authority, as companies have for servers inside; for 127.0.0.1 by default. */
export function ownAuthority({ ip = '127.0.0.1', startsIn = -1, endsIn = 1 } = {}): {
  readonly cert: string;
  readonly key: string;
} {
  const key = rsaKeyPem();
  const { n, e } = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(n, e);
  certificate.serialNumber = '5a01';
  certificate.validity.notBefore = new Date(Date.now() + startsIn * DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + endsIn * DAY_MS);
  const name = [{ name: 'commonName', value: 'Acme inside' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip }] },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(certificate), key };
}
