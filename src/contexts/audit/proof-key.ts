import { createPrivateKey, createPublicKey, hkdfSync, sign, type KeyObject } from 'node:crypto';

/** What stands before the seed of an Ed25519 key in PKCS #8 (RFC 8410 §7). */
const PKCS8_BEFORE_SEED = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Signs proofs of audit logs. Derived from the audit key: an installation that was restored with its keys signs as before, and
 * there is nothing more to keep.
 */
export class ProofKey {
  readonly #key: KeyObject;
  /** Ed25519, SPKI in base64. */
  readonly publicKey: string;

  constructor(auditKey: Buffer) {
    const seed = Buffer.from(hkdfSync('sha256', auditKey, Buffer.alloc(0), 'castellan/audit-proof', 32));
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_BEFORE_SEED, seed]), format: 'der', type: 'pkcs8' });
    this.publicKey = createPublicKey(this.#key).export({ format: 'der', type: 'spki' }).toString('base64');
  }

  /** Base64, of the text in UTF-8. */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString('base64');
  }
}
