import { readCertificate } from './certificate.ts';
import { describeCertificate } from './certificate-details.ts';
import type { CertificateDetails } from './certificate-details.ts';
import { distinguishedName } from './distinguished-name.ts';
import {
  KEY_USAGE,
  authorityKeyIdentifier,
  basicConstraintsOfAuthority,
  keyUsage,
  subjectKeyIdentifier,
} from './extension-writing.ts';
import { selfSigned } from './self-signed.ts';
import type { RandomSource } from './serial-number.ts';
import { validityFrom } from './validity.ts';

/** A tenant's certificate authority as it is stored: the certificate in events, the key in the vault. */
export interface Authority extends CertificateDetails {
  /** The CA's own certificate first, then those of its issuers, if any. */
  readonly certificatePem: string;
  /** PKCS#8, not encrypted. */
  readonly privateKeyPem: string;
}

export interface AuthorityRequest {
  readonly commonName: string;
  readonly organization: string;
  readonly years: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The source of the serial number; default: the system's. */
  readonly rng?: RandomSource;
}

function yearsAfter(now: number, years: number): number {
  const end = new Date(now);
  return end.setUTCFullYear(end.getUTCFullYear() + years);
}

/** A self-signed P-256 root that may sign leaf certificates and revocation lists, but no further authority. */
export function createAuthority({ commonName, organization, years, now, rng }: AuthorityRequest): Authority {
  const { der, certificatePem, privateKeyPem } = selfSigned(
    distinguishedName({ commonName, organization }),
    validityFrom(now, yearsAfter(now, years)),
    (keyIdentifier) => [
      basicConstraintsOfAuthority(),
      keyUsage(KEY_USAGE.keyCertSign, KEY_USAGE.cRLSign),
      subjectKeyIdentifier(keyIdentifier),
      authorityKeyIdentifier(keyIdentifier),
    ],
    rng,
  );
  return { ...describeCertificate(readCertificate(der)), certificatePem, privateKeyPem };
}
