import { createECDH } from 'node:crypto';
import { pem } from './pem.ts';

export const P256_POINT_LENGTH = 65;
/** SubjectPublicKeyInfo of an uncompressed P-256 point, up to the point (RFC 5480 §2). */
export const P256_PUBLIC_KEY_PREFIX = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
/** PKCS#8 around an RFC 5915 key: prefix, 32 octets of private key, middle, the point. */
const PKCS8_PREFIX = Buffer.from('308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420', 'hex');
const PKCS8_MIDDLE = Buffer.from('a144034200', 'hex');
const SCALAR_LENGTH = 32;

export interface KeyPair {
  /** Uncompressed point, 65 octets. */
  readonly publicPoint: Buffer;
  /** PKCS#8, not encrypted. */
  readonly privateKeyPem: string;
}

// Setting up the curve costs as much as generating a key, so one generator serves all calls. It is synchronous, so
// calls never overlap. After each call it holds the key 1, so that no private key stays in it.
const generator = createECDH('prime256v1');
const WORTHLESS = Buffer.alloc(SCALAR_LENGTH);
WORTHLESS[SCALAR_LENGTH - 1] = 1;

/**
 * PKCS#8 of a P-256 key. createECDH drops leading zero octets of a scalar, in about one of 256 keys; PKCS#8 needs all
 * 32.
 */
export function pkcs8(scalar: Buffer, publicPoint: Buffer): Buffer {
  const padding = Buffer.alloc(SCALAR_LENGTH - scalar.length);
  return Buffer.concat([PKCS8_PREFIX, padding, scalar, PKCS8_MIDDLE, publicPoint]);
}

/** A fresh P-256 key pair. */
export function generateKeyPair(): KeyPair {
  generator.generateKeys();
  const publicPoint = generator.getPublicKey();
  const scalar = generator.getPrivateKey();
  generator.setPrivateKey(WORTHLESS);
  const der = pkcs8(scalar, publicPoint);
  const privateKeyPem = pem('PRIVATE KEY', der);
  scalar.fill(0);
  der.fill(0);
  return { publicPoint, privateKeyPem };
}
