import { unavailable } from '../kernel/failure.ts';
import type { Failure } from '../kernel/failure.ts';
import { algorithmIdentifier, signedSequence } from './certificate-writing.ts';
import { embed, encode, enumerated, explicit, unsignedInteger, sequence, time } from './der.ts';
import type { Node } from './der.ts';
import { permitsUsage } from './extension-reading.ts';
import { KEY_USAGE, authorityKeyIdentifier, crlNumber, reasonCode } from './extension-writing.ts';
import type { CertificateIssuer } from './certificate-issuer.ts';
import { pem } from './pem.ts';

/** The CRLReason values of RFC 5280 §5.3.1 that apply to devices. */
const REASONS = {
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
} as const;
export type CertificateRevocationReason = keyof typeof REASONS;

export interface RevokedCertificate {
  /** Hex, as in a certificate's `serialNumber`. */
  readonly serialNumber: string;
  /** Epoch milliseconds. */
  readonly revokedAt: number;
  /** Left out if no reason was given. */
  readonly reason?: CertificateRevocationReason;
}

export interface RevocationListRequest {
  /** Epoch milliseconds. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** Increases with every list of an authority. */
  readonly number: bigint | number;
}

export interface RevocationList {
  readonly der: Buffer;
  readonly pem: string;
}

const SERIAL = /^(?:[0-9A-Fa-f]{2}){1,20}$/;
const VERSION_2 = unsignedInteger(Uint8Array.of(1));

function magnitude(number: bigint | number): Buffer {
  const digits = BigInt(number).toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

function entry({ serialNumber, revokedAt, reason }: RevokedCertificate): Node {
  if (!SERIAL.test(serialNumber)) throw new TypeError('a serial number is 1 to 20 octets of hex');
  const serial = unsignedInteger(Buffer.from(serialNumber, 'hex'));
  return reason === undefined
    ? sequence(serial, time(revokedAt))
    : sequence(serial, time(revokedAt), sequence(reasonCode(enumerated(REASONS[reason]))));
}

/**
 * A complete list, version 2 (RFC 5280 §5), of all certificates that this authority revoked, one entry per serial
 * number. Fails as `unavailable` for an authority whose keyUsage does not permit signing lists.
 */
export function issueRevocationList(
  issuer: CertificateIssuer,
  entries: readonly RevokedCertificate[],
  { thisUpdate, nextUpdate, number }: RevocationListRequest,
): RevocationList | Failure {
  if (!permitsUsage(issuer.certificate, KEY_USAGE.cRLSign)) {
    return unavailable('certificate_authority_without_crl');
  }
  if (!(nextUpdate > thisUpdate)) throw new RangeError('a revocation list must end after it begins');
  const toBeSigned = sequence(
    VERSION_2,
    algorithmIdentifier(issuer.algorithm),
    embed(issuer.certificate.subject),
    time(thisUpdate),
    time(nextUpdate),
    // An empty list has no revokedCertificates at all (§5.1.2.6).
    ...(entries.length > 0 ? [sequence(...entries.map(entry))] : []),
    explicit(0, sequence(authorityKeyIdentifier(issuer.keyIdentifier), crlNumber(magnitude(number)))),
  );
  const der = signedSequence(issuer, encode(toBeSigned));
  return { der, pem: pem('X509 CRL', der) };
}
