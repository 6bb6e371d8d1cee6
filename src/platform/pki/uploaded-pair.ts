import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { invalid, isFailure, refuseTogether } from '../kernel/failure.ts';
import type { Failure } from '../kernel/failure.ts';
import { ifReadable, readCertificate } from './certificate.ts';
import type { Certificate } from './certificate.ts';
import { SequenceReader, TAG, readDer } from './der-reader.ts';
import { pem, pemBlocks } from './pem.ts';
import { keyWeakness, keysMatch, trustedAlgorithm } from './signature-algorithm.ts';

/** A certificate parsed twice: strictly by this module, and by OpenSSL, which will use it. */
export interface UploadedCertificate {
  readonly fields: Certificate;
  readonly x509: X509Certificate;
}

/** `[own certificate, its issuer, …]` and the key of the first. */
export interface UploadedPair {
  readonly certificates: readonly [UploadedCertificate, ...UploadedCertificate[]];
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

const LARGEST_UPLOAD = 64 * 1024;
const LONGEST_CHAIN = 10;
const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;
const PRIVATE_KEY = /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/;

/** Returns the result of `read`, or undefined if OpenSSL refuses the input. */
function ifAccepted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function readUploaded(der: Buffer): UploadedCertificate | undefined {
  const fields = ifReadable(() => readCertificate(der));
  const x509 = fields && ifAccepted(() => new X509Certificate(der));
  // Extracting the key fails if it is not on its curve.
  return fields && x509 && ifAccepted(() => x509.publicKey) ? { fields, x509 } : undefined;
}

/** The certificates of one PEM text, at least one. */
export function readCertificates(field: string, text: string): UploadedPair['certificates'] | Failure {
  if (text.length > LARGEST_UPLOAD) return invalid(field, 'must not exceed 64 KiB');
  const blocks = pemBlocks(text, 'CERTIFICATE') ?? [];
  if (blocks.length === 0) return invalid(field, 'must be a PEM certificate');
  if (blocks.length > LONGEST_CHAIN) return invalid(field, `must not hold more than ${LONGEST_CHAIN} certificates`);
  const read = blocks.map(readUploaded);
  const [first, ...others] = read.filter((certificate) => certificate !== undefined);
  return first && others.length + 1 === read.length
    ? [first, ...others]
    : invalid(field, 'must be an X.509 v3 certificate');
}

function readPrivateKey(text: string): KeyObject | Failure {
  if (text.length > LARGEST_UPLOAD) return invalid('privateKey', 'must not exceed 64 KiB');
  if (ENCRYPTED.test(text)) return invalid('privateKey', 'is encrypted; upload it without a passphrase');
  if (!PRIVATE_KEY.test(text)) return invalid('privateKey', 'must be a PEM private key');
  return ifAccepted(() => createPrivateKey(text)) ?? invalid('privateKey', 'cannot be read');
}

/** RFC 5480 §2.1.1. Explicit curve parameters have passed for a known curve with another generator (CVE-2020-0601). */
function namesItsCurve(publicKey: Buffer): boolean {
  const algorithm = new SequenceReader(new SequenceReader(readDer(publicKey, TAG.sequence)).take(TAG.sequence));
  algorithm.take(TAG.objectIdentifier);
  return algorithm.takeIf(TAG.objectIdentifier) !== undefined;
}

function whyUntrusted({ fields, x509 }: UploadedCertificate, now: number): string | undefined {
  if (now < fields.notBefore) return 'is not yet valid';
  if (now > fields.notAfter) return 'has expired';
  if (x509.publicKey.asymmetricKeyType === 'ec' && !ifReadable(() => namesItsCurve(fields.publicKey)))
    return 'EC curve must be named';
  return keyWeakness(x509.publicKey);
}

/** The signature of a root that only ends a chain is not relied on, so any algorithm is accepted there. */
function isSoundlySigned({ fields }: UploadedCertificate, index: number): boolean {
  const endsChain = index > 0 && fields.issuer.der.equals(fields.subject.der);
  return endsChain || trustedAlgorithm(fields.signatureAlgorithm) !== undefined;
}

export const isSignedBy = (certificate: UploadedCertificate, issuer: UploadedCertificate): boolean =>
  ifAccepted(() => certificate.x509.verify(issuer.x509.publicKey)) === true;

/** Each certificate must be issued by the authority that follows it. */
function isChain(certificates: readonly UploadedCertificate[]): boolean {
  return certificates.slice(1).every((issuer, index) => {
    const certificate = certificates[index];
    return (
      certificate !== undefined &&
      issuer.x509.ca &&
      certificate.x509.checkIssued(issuer.x509) &&
      isSignedBy(certificate, issuer)
    );
  });
}

/** The first reason to refuse a certificate of each field. */
function refuseUntrusted(certificates: UploadedPair['certificates'], now: number): Failure | undefined {
  const reasons = certificates.map(
    (certificate, index) =>
      whyUntrusted(certificate, now) ??
      (isSoundlySigned(certificate, index) ? undefined : 'signature algorithm is weak or unknown'),
  );
  const ofChain = reasons.slice(1).find((reason) => reason !== undefined);
  const refused = refuseTogether(
    reasons[0] === undefined ? undefined : invalid('certificate', reasons[0]),
    ofChain === undefined ? undefined : invalid('chain', ofChain),
  );
  if (refused || isChain(certificates)) return refused;
  return invalid('certificate', 'each certificate must be followed by the one that signed it');
}

/** Adds what is wrong with the key by itself to what is wrong with its certificates. */
export function refuseWithKey(refused: Failure, privateKey: string): Failure {
  const key = readPrivateKey(privateKey);
  return refuseTogether(refused, isFailure(key) ? key : undefined)!;
}

/** The checks for every uploaded certificate and its key, whatever their purpose. */
export function readPair(
  certificates: UploadedPair['certificates'],
  privateKey: string,
  now: number,
): UploadedPair | Failure {
  const refused = refuseUntrusted(certificates, now);
  if (refused) return refuseWithKey(refused, privateKey);
  const key = readPrivateKey(privateKey);
  if (isFailure(key)) return key;
  if (!ifAccepted(() => keysMatch(key, certificates[0].x509.publicKey)))
    return invalid('privateKey', 'does not match the certificate');
  return {
    certificates,
    certificatePem: certificates.map(({ fields }) => pem('CERTIFICATE', fields.der)).join(''),
    privateKeyPem: key.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
