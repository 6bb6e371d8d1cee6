import { createPublicKey, verify, type KeyObject } from 'node:crypto';

/**
 * What a publisher signs. Ed25519 (RFC 8032) needs the whole message at once, so a bundle's signature covers a text with
 * its version and digest: the version cannot be exchanged either, and the bundle need not be in memory. The first line
 * keeps the text apart from everything else that the same key signs.
 */
export const bundleStatement = (version: string, sha256: string): string =>
  `castellan-update-bundle\n${version}\n${sha256}\n`;

const SIGNATURE_BYTES = 64;
const BASE64 = /^[0-9A-Za-z+/]+={0,2}$/;

/** The octets of a signature in base64; undefined for anything else. */
export function signatureOctets(text: string): Buffer | undefined {
  const trimmed = text.replaceAll(/\s/g, '');
  const octets = BASE64.test(trimmed) ? Buffer.from(trimmed, 'base64') : Buffer.alloc(0);
  return octets.length === SIGNATURE_BYTES ? octets : undefined;
}

export const updateKey = (pem: string): KeyObject => createPublicKey(pem);

export const isSignedStatement = (key: KeyObject, statement: string, signature: Buffer): boolean =>
  verify(null, Buffer.from(statement), key, signature);
