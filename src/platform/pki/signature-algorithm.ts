import { sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { encode, nullValue, sequence } from './der.ts';
import { algorithmOid } from './object-identifiers.ts';

/** A signature algorithm of RFC 4055 / RFC 5758 that is strong enough to be trusted. */
export interface SignatureAlgorithm {
  readonly keyType: 'rsa' | 'ec';
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  /** The whole AlgorithmIdentifier. */
  readonly der: Buffer;
}

// RSA has NULL parameters (RFC 4055 §5), ECDSA none (RFC 5758 §3.2).
const rsa = (hash: SignatureAlgorithm['hash'], dotted: string): SignatureAlgorithm => ({
  keyType: 'rsa',
  hash,
  der: encode(sequence(algorithmOid(dotted).node, nullValue())),
});
const ec = (hash: SignatureAlgorithm['hash'], dotted: string): SignatureAlgorithm => ({
  keyType: 'ec',
  hash,
  der: encode(sequence(algorithmOid(dotted).node)),
});

const RSA_SHA256 = rsa('sha256', '1.2.840.113549.1.1.11');
export const ECDSA_SHA256 = ec('sha256', '1.2.840.10045.4.3.2');
const ECDSA_SHA384 = ec('sha384', '1.2.840.10045.4.3.3');
const ECDSA_SHA512 = ec('sha512', '1.2.840.10045.4.3.4');
const TRUSTED: readonly SignatureAlgorithm[] = [
  RSA_SHA256,
  rsa('sha384', '1.2.840.113549.1.1.12'),
  rsa('sha512', '1.2.840.113549.1.1.13'),
  ECDSA_SHA256,
  ECDSA_SHA384,
  ECDSA_SHA512,
];

/** The trusted algorithm that this AlgorithmIdentifier names; undefined for MD5, SHA-1 and unknown ones. */
export const trustedAlgorithm = (identifier: Buffer): SignatureAlgorithm | undefined =>
  TRUSTED.find(({ der }) => der.equals(identifier));

const BY_CURVE: Readonly<Record<string, SignatureAlgorithm>> = {
  prime256v1: ECDSA_SHA256,
  secp384r1: ECDSA_SHA384,
  secp521r1: ECDSA_SHA512,
};

/**
 * The signature algorithm of a key, with a hash as strong as the curve. Undefined for a key that `keyWeakness`
 * refuses.
 */
export function algorithmFor(key: KeyObject): SignatureAlgorithm | undefined {
  if (key.asymmetricKeyType === 'rsa') return RSA_SHA256;
  if (key.asymmetricKeyType !== 'ec') return undefined;
  return BY_CURVE[key.asymmetricKeyDetails?.namedCurve ?? ''];
}

// Above this, a single signature blocks the event loop for too long.
const LARGEST_RSA = 8192;

/**
 * Why a key must not be trusted (a short text), or undefined. Accepted are RSA of 2048 to 8192 bits, P-256, P-384 and
 * P-521.
 */
export function keyWeakness(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength < 2048) return 'RSA key is shorter than 2048 bits';
    if (modulusLength > LARGEST_RSA) return `RSA key is longer than ${LARGEST_RSA} bits`;
    return publicExponent < 3n ? 'RSA exponent is weak' : undefined;
  }
  if (key.asymmetricKeyType !== 'ec') return 'key must be RSA or EC';
  return algorithmFor(key) ? undefined : 'EC curve must be P-256, P-384 or P-521';
}

export const signWith = ({ hash }: SignatureAlgorithm, key: KeyObject, message: Buffer): Buffer =>
  sign(hash, message, key);

const PROBE = Buffer.from('does this key sign for that one?');

/**
 * Whether signatures of `privateKey` verify under `publicKey`. Comparing public halves, as OpenSSL does, would accept
 * a key file whose private half is damaged.
 */
export function keysMatch(privateKey: KeyObject, publicKey: KeyObject): boolean {
  const algorithm = algorithmFor(privateKey);
  return (
    algorithm !== undefined && signatureVerifies(algorithm, publicKey, PROBE, signWith(algorithm, privateKey, PROBE))
  );
}

/** Also false if the key is of another type than the algorithm. */
export const signatureVerifies = (
  algorithm: SignatureAlgorithm,
  key: KeyObject,
  message: Buffer,
  signature: Buffer,
): boolean => key.asymmetricKeyType === algorithm.keyType && verify(algorithm.hash, message, key, signature);
