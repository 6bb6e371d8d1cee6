import { hash } from 'node:crypto';
import { SequenceReader, TAG, readDer } from './der-reader.ts';
import { readOctetsOfBits } from './der-values.ts';

export const KEY_IDENTIFIER_LENGTH = 20;

/** RFC 7093 §2, method 1: the leftmost 160 bits of SHA-256 over the public key's bits. */
export const keyIdentifierOfPoint = (point: Buffer): Buffer =>
  hash('sha256', point, 'buffer').subarray(0, KEY_IDENTIFIER_LENGTH);

/** As above, of a SubjectPublicKeyInfo. */
export function keyIdentifier(publicKey: Buffer): Buffer {
  const fields = new SequenceReader(readDer(publicKey, TAG.sequence));
  fields.take(TAG.sequence);
  return keyIdentifierOfPoint(readOctetsOfBits(fields.take(TAG.bitString)));
}
