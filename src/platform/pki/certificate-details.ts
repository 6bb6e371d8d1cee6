import { X509Certificate, hash } from 'node:crypto';
import type { Certificate } from './certificate.ts';

/** The details of a certificate for status pages. */
export interface CertificateDetails {
  /** `O=Acme, CN=Acme CA`: in the certificate's order, with values escaped as in RFC 4514. */
  readonly subject: string;
  readonly issuer: string;
  /** Upper-case hex. */
  readonly serialNumber: string;
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly expiresAt: number;
  /** SHA-256 of the whole certificate, lower-case hex. */
  readonly fingerprintSha256: string;
}

export const fingerprint = (der: Buffer): string => hash('sha256', der, 'hex');

// Node writes one attribute per line and escapes line ends and commas in values. A name may also be empty.
const oneLine = (name: string | undefined): string => (name ?? '').split('\n').join(', ');

/** `O=Acme, CN=Acme CA`, as OpenSSL reads both names. */
export const namesOf = ({ subject, issuer }: X509Certificate): Pick<CertificateDetails, 'subject' | 'issuer'> => ({
  subject: oneLine(subject),
  issuer: oneLine(issuer),
});

export function describeCertificate(certificate: Certificate): CertificateDetails {
  return {
    ...namesOf(new X509Certificate(certificate.der)),
    serialNumber: certificate.serialNumber,
    notBefore: certificate.notBefore,
    expiresAt: certificate.notAfter,
    fingerprintSha256: fingerprint(certificate.der),
  };
}
