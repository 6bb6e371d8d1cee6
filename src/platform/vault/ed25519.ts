import { createPrivateKey, type KeyObject } from 'node:crypto';

/** RFC 8410: an Ed25519 private key in PKCS#8 is this prefix and a 32-byte seed. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derives the private key from a 32-byte seed. Deterministic. */
export const ed25519Key = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
