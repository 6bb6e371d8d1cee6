import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** This many of each size: tests that take fewer at a time have different keys. */
const DIFFERENT = 6;
const made = new Map<number, KeyObject[]>();
let taken = 0;

/**
 * A private RSA key. Generating one takes tenths of a second, and few tests need a new one: each file's first few are
 * new, then they repeat.
 */
export function rsaKey(bits = 2048): KeyObject {
  const keys = made.get(bits) ?? [];
  made.set(bits, keys);
  const index = taken++ % DIFFERENT;
  return (keys[index] ??= generateKeyPairSync('rsa', { modulusLength: bits }).privateKey);
}

/** PKCS#8, PEM. */
export const rsaKeyPem = (bits?: number): string => rsaKey(bits).export({ type: 'pkcs8', format: 'pem' }) as string;
