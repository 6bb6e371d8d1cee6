import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** So many of each size: whoever takes fewer at a time has keys that differ. */
const DIFFERENT = 6;
const made = new Map<number, KeyObject[]>();
let taken = 0;

/**
 * A private RSA key. Making one takes tenths of a second, and few tests care which it is: each file's first few are new, then they come
 * round again.
 */
export function rsaKey(bits = 2048): KeyObject {
  const keys = made.get(bits) ?? [];
  made.set(bits, keys);
  const index = taken++ % DIFFERENT;
  return (keys[index] ??= generateKeyPairSync('rsa', { modulusLength: bits }).privateKey);
}

/** PKCS#8, PEM. */
export const rsaKeyPem = (bits?: number): string => rsaKey(bits).export({ type: 'pkcs8', format: 'pem' }) as string;
