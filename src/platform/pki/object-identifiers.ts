import { encode, objectIdentifier } from './der.ts';
import type { Node } from './der.ts';

export interface ObjectIdentifier {
  readonly dotted: string;
  /** Hex of the encoded content, for comparison by readers. */
  readonly hex: string;
  readonly node: Node;
}

function oid(dotted: string): ObjectIdentifier {
  const node = objectIdentifier(dotted);
  return { dotted, hex: encode(node).subarray(2).toString('hex'), node };
}

/** Names and extensions of RFC 5280 (X.520, id-ce, id-kp). */
export const OID = {
  commonName: oid('2.5.4.3'),
  organization: oid('2.5.4.10'),

  subjectKeyIdentifier: oid('2.5.29.14'),
  keyUsage: oid('2.5.29.15'),
  subjectAltName: oid('2.5.29.17'),
  basicConstraints: oid('2.5.29.19'),
  crlNumber: oid('2.5.29.20'),
  reasonCode: oid('2.5.29.21'),
  authorityKeyIdentifier: oid('2.5.29.35'),
  extendedKeyUsage: oid('2.5.29.37'),

  anyExtendedKeyUsage: oid('2.5.29.37.0'),
  serverAuth: oid('1.3.6.1.5.5.7.3.1'),
  clientAuth: oid('1.3.6.1.5.5.7.3.2'),

  ecPublicKey: oid('1.2.840.10045.2.1'),
  prime256v1: oid('1.2.840.10045.3.1.7'),
} as const;

export const algorithmOid = oid;
