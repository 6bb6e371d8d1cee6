import forge from 'node-forge';

/**
 * DER writing (X.690), with nodes of node-forge's ASN.1 module: build a tree, then `encode` it once. node-forge keeps
 * octets in "binary strings", one char each; this module converts them, so callers use Buffers.
 */
export type Node = forge.asn1.Asn1;

const { Class, Type } = forge.asn1;
const octets = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
const primitive = (type: forge.asn1.Type, value: string): Node =>
  forge.asn1.create(Class.UNIVERSAL, type, false, value);
const constructed = (type: forge.asn1.Type, children: readonly Node[]): Node =>
  forge.asn1.create(Class.UNIVERSAL, type, true, [...children]);

export const sequence = (...children: readonly Node[]): Node => constructed(Type.SEQUENCE, children);
export const setOf = (child: Node): Node => constructed(Type.SET, [child]);
export const boolean = (value: boolean): Node => primitive(Type.BOOLEAN, value ? '\xff' : '\x00');
export const nullValue = (): Node => primitive(Type.NULL, '');
export const octetString = (bytes: Uint8Array): Node => primitive(Type.OCTETSTRING, octets(bytes));
export const utf8 = (text: string): Node => primitive(Type.UTF8, octets(Buffer.from(text, 'utf8')));
/** node-forge writes each UTF-16 unit of a BMPString as two octets. */
export const bmpString = (text: string): Node => primitive(Type.BMPSTRING, text);
export const objectIdentifier = (dotted: string): Node => primitive(Type.OID, forge.asn1.oidToDer(dotted).getBytes());
export const enumerated = (value: number): Node => primitive(Type.ENUMERATED, String.fromCharCode(value));

/**
 * An unsigned big-endian number. A leading zero octet keeps a number with its high bit set from being read as
 * negative.
 */
export function unsignedInteger(magnitude: Uint8Array): Node {
  const first = magnitude.findIndex((byte) => byte !== 0);
  if (first < 0) return primitive(Type.INTEGER, '\x00');
  const digits = octets(magnitude.subarray(first));
  return primitive(Type.INTEGER, digits.charCodeAt(0) >= 0x80 ? `\x00${digits}` : digits);
}

/** Whole octets; `unusedBits` is the number of low bits of the last octet that do not count. */
export const bitString = (bytes: Uint8Array, unusedBits = 0): Node =>
  primitive(Type.BITSTRING, String.fromCharCode(unusedBits) + octets(bytes));

/** `[tag] EXPLICIT`: wraps a whole element. */
export const explicit = (tag: number, child: Node): Node =>
  forge.asn1.create(Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, true, [child]);

/** `[tag] IMPLICIT` over a primitive value. */
export const implicit = (tag: number, bytes: Uint8Array): Node =>
  forge.asn1.create(Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, false, octets(bytes));

const FIRST_GENERALIZED = Date.UTC(2050, 0, 1);
const END_OF_TIME = Date.UTC(10_000, 0, 1);

/**
 * Epoch milliseconds, truncated to the second. RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050. A
 * date outside both is a RangeError.
 */
export function time(epochMs: number): Node {
  if (!(epochMs >= Date.UTC(1950, 0, 1) && epochMs < END_OF_TIME))
    throw new RangeError('a certificate date lies between 1950 and 9999');
  const date = new Date(epochMs);
  return epochMs < FIRST_GENERALIZED
    ? primitive(Type.UTCTIME, forge.asn1.dateToUtcTime(date))
    : primitive(Type.GENERALIZEDTIME, forge.asn1.dateToGeneralizedTime(date));
}

/**
 * A finished element, octet for octet: an issuer's name must stay exactly as its certificate encodes it. node-forge
 * writes `class | type` as the tag, so a "type" that is the whole tag octet reproduces any element with a one-octet
 * tag.
 */
export function embed(element: { readonly tag: number; readonly content: Uint8Array }): Node {
  return primitive(element.tag as forge.asn1.Type, octets(element.content));
}

export const encode = (node: Node): Buffer => Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
