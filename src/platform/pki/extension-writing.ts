import { bitString, boolean, encode, explicit, implicit, unsignedInteger, octetString, sequence } from './der.ts';
import type { Node } from './der.ts';
import { OID } from './object-identifiers.ts';
import type { ObjectIdentifier } from './object-identifiers.ts';

/** Bits of keyUsage (RFC 5280 §4.2.1.3). */
export const KEY_USAGE = {
  digitalSignature: 0,
  keyEncipherment: 2,
  keyAgreement: 4,
  keyCertSign: 5,
  cRLSign: 6,
} as const;

const extension = (identifier: ObjectIdentifier, value: Node, critical = false): Node =>
  critical
    ? sequence(identifier.node, boolean(true), octetString(encode(value)))
    : sequence(identifier.node, octetString(encode(value)));

export const basicConstraintsOfAuthority = (): Node =>
  extension(OID.basicConstraints, sequence(boolean(true), unsignedInteger(Uint8Array.of(0))), true);
export const basicConstraintsOfLeaf = (): Node => extension(OID.basicConstraints, sequence(), true);

/** DER cuts a named bit list after its last set bit (X.690 §11.2.2). */
export function keyUsage(...bits: readonly number[]): Node {
  const flags = bits.reduce((octet, bit) => octet | (0x80 >> bit), 0);
  return extension(OID.keyUsage, bitString(Uint8Array.of(flags), 7 - Math.max(...bits)), true);
}

export const extendedKeyUsage = (purpose: ObjectIdentifier): Node =>
  extension(OID.extendedKeyUsage, sequence(purpose.node));
export const subjectKeyIdentifier = (identifier: Uint8Array): Node =>
  extension(OID.subjectKeyIdentifier, octetString(identifier));
export const authorityKeyIdentifier = (identifier: Uint8Array): Node =>
  extension(OID.authorityKeyIdentifier, sequence(implicit(0, identifier)));
export const crlNumber = (magnitude: Uint8Array): Node => extension(OID.crlNumber, unsignedInteger(magnitude));
export const reasonCode = (reason: Node): Node => extension(OID.reasonCode, reason);

/** GeneralName choices (RFC 5280 §4.2.1.6). */
export const GENERAL_NAME = { dns: 2, uri: 6, ip: 7 } as const;
export const subjectAltName = (...names: readonly Node[]): Node => extension(OID.subjectAltName, sequence(...names));
export const uriName = (uri: string): Node => implicit(GENERAL_NAME.uri, Buffer.from(uri, 'latin1'));
export const dnsName = (host: string): Node => implicit(GENERAL_NAME.dns, Buffer.from(host, 'latin1'));
export const ipName = (octets: Uint8Array): Node => implicit(GENERAL_NAME.ip, octets);

export const extensions = (...list: readonly Node[]): Node => explicit(3, sequence(...list));
