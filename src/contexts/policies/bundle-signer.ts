import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { ed25519Key } from '../../platform/vault/ed25519.ts';
import type { Keyring } from '../../platform/vault/keyring.ts';
import type { Keyrings } from '../../platform/vault/keyrings.ts';

/** RFC 8037: what an extension needs to check a bundle. */
export interface BundleKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly kid: string;
  readonly x: string;
}

/**
 * Signs what extensions work by, so that one that keeps it on disk, or gets it through a cache or a proxy, can tell that it is ours and
 * whole. One key for the installation, derived from MASTER_KEY, so that every node signs alike.
 */
export class BundleSigner {
  readonly #key: KeyObject;
  readonly publicKey: BundleKey;
  /** With those of nodes that another master key is at work on. */
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
