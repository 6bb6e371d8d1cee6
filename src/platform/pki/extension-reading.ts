import type { Certificate } from './certificate.ts';
import { DerError, SequenceReader, TAG, elements, primitiveContext, readDer } from './der-reader.ts';
import { readBoolean, readFlags, readObjectIdentifier, readUnsigned } from './der-values.ts';
import { GENERAL_NAME } from './extension-writing.ts';
import { OID } from './object-identifiers.ts';
import type { ObjectIdentifier } from './object-identifiers.ts';

const valueOf = (certificate: Certificate, identifier: ObjectIdentifier): Buffer | undefined =>
  certificate.extensions.get(identifier.hex)?.value;

/** basicConstraints cA; absent means false. */
export function isAuthority(certificate: Certificate): boolean {
  const value = valueOf(certificate, OID.basicConstraints);
  if (!value) return false;
  const fields = new SequenceReader(readDer(value, TAG.sequence));
  const authority = fields.takeIf(TAG.boolean);
  const pathLength = fields.takeIf(TAG.integer);
  fields.end();
  if (pathLength) readUnsigned(pathLength);
  return authority !== undefined && readBoolean(authority);
}

/** A certificate without keyUsage may be used for everything (RFC 5280 §4.2.1.3). */
export function permitsUsage(certificate: Certificate, bit: number): boolean {
  const value = valueOf(certificate, OID.keyUsage);
  return value === undefined || readFlags(readDer(value, TAG.bitString))(bit);
}

/** As `permitsUsage`, for extendedKeyUsage (RFC 5280 §4.2.1.12). */
export function permitsPurpose(certificate: Certificate, purpose: ObjectIdentifier): boolean {
  const value = valueOf(certificate, OID.extendedKeyUsage);
  if (!value) return true;
  const listed = elements(readDer(value, TAG.sequence).content).map(readObjectIdentifier);
  return listed.includes(purpose.hex) || listed.includes(OID.anyExtendedKeyUsage.hex);
}

export const carries = (certificate: Certificate, identifier: ObjectIdentifier): boolean =>
  certificate.extensions.has(identifier.hex);

export function readSubjectKeyIdentifier(certificate: Certificate): Buffer | undefined {
  const value = valueOf(certificate, OID.subjectKeyIdentifier);
  return value && readDer(value, TAG.octetString).content;
}

/** The only name in subjectAltName, if it is a URI. */
export function readOnlyUri(certificate: Certificate): string {
  const value = valueOf(certificate, OID.subjectAltName);
  const names = value ? elements(readDer(value, TAG.sequence).content) : [];
  const [name] = names;
  if (names.length !== 1 || name?.tag !== primitiveContext(GENERAL_NAME.uri)) throw new DerError('subjectAltName');
  return name.content.toString('latin1');
}
