import { DerError, SequenceReader, TAG, constructedContext, elements, readDer } from './der-reader.ts';
import type { Element } from './der-reader.ts';
import { readBoolean, readObjectIdentifier, readOctetsOfBits, readTime, readUnsigned } from './der-values.ts';

export interface CertificateExtension {
  readonly critical: boolean;
  readonly value: Buffer;
}

/** A parsed certificate (RFC 5280 §4.1). Nothing in it is verified: these are claims. */
export interface Certificate {
  readonly der: Buffer;
  /** The signed part, octet for octet. */
  readonly tbs: Buffer;
  /** The whole AlgorithmIdentifier, identical inside and outside of the signed part. */
  readonly signatureAlgorithm: Buffer;
  readonly signature: Buffer;
  /** Upper-case hex of whole octets. */
  readonly serialNumber: string;
  readonly issuer: Element;
  readonly subject: Element;
  /** Epoch milliseconds; the validity includes both ends. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  /** Keyed by the hex of the object identifier. */
  readonly extensions: ReadonlyMap<string, CertificateExtension>;
}

function readExtensions(container: Element | undefined): ReadonlyMap<string, CertificateExtension> {
  const found = new Map<string, CertificateExtension>();
  if (!container) return found;
  for (const element of elements(readDer(container.content, TAG.sequence).content)) {
    const fields = new SequenceReader(element);
    const identifier = readObjectIdentifier(fields.take(TAG.objectIdentifier));
    const critical = fields.takeIf(TAG.boolean);
    const value = fields.take(TAG.octetString).content;
    fields.end();
    // With two extensions of one kind, two readers could each use another one (RFC 5280 §4.2 forbids it).
    if (found.has(identifier)) throw new DerError('repeated extension');
    found.set(identifier, { critical: critical !== undefined && readBoolean(critical), value });
  }
  return found;
}

const V3 = '02';

function skipVersion(fields: SequenceReader): void {
  const version = fields.takeIf(constructedContext(0));
  if (!version || readUnsigned(readDer(version.content, TAG.integer)) !== V3) throw new DerError('version');
}

function readValidity(element: Element): { notBefore: number; notAfter: number } {
  const fields = new SequenceReader(element);
  const validity = { notBefore: readTime(fields.takeAny()), notAfter: readTime(fields.takeAny()) };
  fields.end();
  return validity;
}

/** Parses an X.509 v3 certificate. Throws DerError for anything else. */
export function readCertificate(der: Buffer): Certificate {
  const outer = new SequenceReader(readDer(der, TAG.sequence));
  const tbs = outer.take(TAG.sequence);
  const signatureAlgorithm = outer.take(TAG.sequence).der;
  const signature = readOctetsOfBits(outer.take(TAG.bitString));
  outer.end();

  const fields = new SequenceReader(tbs);
  skipVersion(fields);
  const serialNumber = readUnsigned(fields.take(TAG.integer));
  if (!fields.take(TAG.sequence).der.equals(signatureAlgorithm)) throw new DerError('two signature algorithms');
  const issuer = fields.take(TAG.sequence);
  const validity = readValidity(fields.take(TAG.sequence));
  const subject = fields.take(TAG.sequence);
  const publicKey = fields.take(TAG.sequence).der;
  const extensions = readExtensions(fields.takeIf(constructedContext(3)));
  fields.end();
  return {
    der,
    tbs: tbs.der,
    signatureAlgorithm,
    signature,
    serialNumber,
    issuer,
    subject,
    ...validity,
    publicKey,
    extensions,
  };
}

/**
 * Returns the result of `read`, or undefined if the input is not the expected DER. Other errors are bugs and pass
 * through.
 */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}
