import forge from 'node-forge';
import { rsaKeyPem } from './rsa-keys.ts';

/** A certificate for 127.0.0.1 that is its own authority, as companies have for servers inside. */
export function ownAuthority(): { readonly cert: string; readonly key: string } {
  const key = rsaKeyPem();
  const { n, e } = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(n, e);
  certificate.serialNumber = '5a01';
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  const name = [{ name: 'commonName', value: 'Acme inside' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(certificate), key };
}
