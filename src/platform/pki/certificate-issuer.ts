import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readCertificate } from './certificate.ts';
import type { Certificate } from './certificate.ts';
import type { Signer } from './certificate-writing.ts';
import { readSubjectKeyIdentifier } from './extension-reading.ts';
import { keyIdentifier } from './key-identifier.ts';
import { firstCertificate } from './pem.ts';
import { algorithmFor, keysMatch } from './signature-algorithm.ts';

/**
 * A CA prepared for signing: parsed and checked once, so that issuing handles only what differs between leaf
 * certificates.
 */
export interface CertificateIssuer extends Signer {
  readonly certificate: Certificate;
  /** The authorityKeyIdentifier of leaf certificates. */
  readonly keyIdentifier: Buffer;
}

/**
 * Takes a CA that `createAuthority` made or `inspectAuthority` accepted (the first certificate of the PEM). Throws on
 * any other: stored CAs were checked before, so a mismatch is damage, not bad input.
 */
export function prepareCertificateIssuer(authority: {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}): CertificateIssuer {
  const certificate = readCertificate(firstCertificate(authority.certificatePem));
  const privateKey = createPrivateKey(authority.privateKeyPem);
  const algorithm = algorithmFor(privateKey);
  const publicKey = createPublicKey({ key: certificate.publicKey, format: 'der', type: 'spki' });
  if (!algorithm || !keysMatch(privateKey, publicKey)) {
    throw new TypeError('the private key does not belong to the authority');
  }
  return {
    certificate,
    keyIdentifier: readSubjectKeyIdentifier(certificate) ?? keyIdentifier(certificate.publicKey),
    algorithm,
    privateKey,
  };
}
