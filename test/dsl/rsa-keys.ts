import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** This many of each size: tests that take fewer at a time have different keys. */
const DIFFERENT = 6;
/** Set by `global-setup.ts`: the workers of a run share their keys. */
const FOLDER = process.env['TEST_KEYS_FOLDER'];
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
  return (keys[index] ??= sharedKey(bits, index));
}

function sharedKey(bits: number, index: number): KeyObject {
  const generate = () => generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;
  if (FOLDER === undefined) return generate();
  const file = path.join(FOLDER, `${bits}-${index}.pem`);
  if (existsSync(file)) return createPrivateKey(readFileSync(file));
  const key = generate();
  // Two workers may write the same key: the last one remains, and each keeps what it has.
  writeFileSync(`${file}.${process.pid}`, pemOf(key), { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
  return key;
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

/** PKCS#8, PEM. */
export const rsaKeyPem = (bits?: number): string => pemOf(rsaKey(bits));
