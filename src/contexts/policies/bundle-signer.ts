import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { ed25519Key } from '../../platform/vault/ed25519.ts';
import type { Keyring } from '../../platform/vault/keyring.ts';
import type { Keyrings } from '../../platform/vault/keyrings.ts';

/** The public key with which an extension verifies a bundle (RFC 8037). */
export interface BundleKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly kid: string;
  readonly x: string;
}

/**
 * Signs the configuration of extensions. An extension that stores it on disk, or gets it through a cache or proxy, can
 * verify its origin and integrity. The installation has one key, derived from MASTER_KEY, so that all nodes sign alike.
 */
export class BundleSigner {
  readonly #key: KeyObject;
  readonly publicKey: BundleKey;
  /** Includes the keys of nodes that run with another master key. */
  readonly publicKeys: readonly BundleKey[];

  constructor({ current, other }: Keyrings) {
    this.#key = signingKey(current);
    this.publicKey = published(this.#key);
    this.publicKeys = other ? [this.publicKey, published(signingKey(other))] : [this.publicKey];
  }

  /** The Ed25519 signature over the octets of the body, base64url. */
  sign(body: string): string {
    return sign(null, Buffer.from(body), this.#key).toString('base64url');
  }
}

const signingKey = (keyring: Keyring): KeyObject => ed25519Key(keyring.key('policy-bundle-signing'));

function published(key: KeyObject): BundleKey {
  const x = String(createPublicKey(key).export({ format: 'jwk' }).x);
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    kid: createHash('sha256').update(x).digest('base64url').slice(0, 16),
    x,
  };
}
