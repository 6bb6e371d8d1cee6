import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { MacKey } from './mac-key.ts';

const NONCE = 12; // NIST SP 800-38D: 96-bit nonces
const TAG = 16;
const NONCES_AT_ONCE = 512;

/** Fetching twelve random bytes takes almost as long as encrypting the few fields of an event. */
let nonces = Buffer.alloc(0);

/** A nonce that was never returned before. */
function newNonce(): Buffer {
  if (nonces.length === 0) nonces = randomBytes(NONCE * NONCES_AT_ONCE);
  const nonce = nonces.subarray(0, NONCE);
  nonces = nonces.subarray(NONCE);
  return nonce;
}

/**
 * Returns nonce ‖ ciphertext ‖ tag, AES-256-GCM. `bound` is authenticated: a value moved elsewhere does not decrypt.
 */
export function encrypt(key: Buffer, plaintext: Buffer, bound: string): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(bound));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the key, the bytes or `bound` differ. */
export function decrypt(key: Buffer, sealed: Buffer, bound: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE, sealed.length - TAG)), decipher.final()]);
}

export const newKey = (): Buffer => randomBytes(32);

/**
 * Keys derived from a master key, one for each purpose (HKDF-SHA256, RFC 5869), so that no two uses share a key. Kept
 * keys, which outlive the master key they were derived from, replace the derived ones.
 */
export class Keyring {
  readonly #master: Buffer;
  readonly #kept: ReadonlyMap<string, Buffer>;
  /** Identifies the master key without revealing it: 16 hex digits. */
  readonly fingerprint: string;

  constructor(master: Buffer, kept: ReadonlyMap<string, Buffer> = new Map()) {
    if (master.length !== 32) throw new TypeError('MASTER_KEY must be 32 bytes');
    this.#master = master;
    this.#kept = kept;
    this.fingerprint = this.key('fingerprint').toString('hex').slice(0, 16);
  }

  keeping(kept: ReadonlyMap<string, Buffer>): Keyring {
    return new Keyring(this.#master, kept);
  }

  key(purpose: string): Buffer {
    return (
      this.#kept.get(purpose) ??
      Buffer.from(hkdfSync('sha256', this.#master, Buffer.alloc(0), `castellan/${purpose}`, 32))
    );
  }

  /** Returns a keyed digest function for look-ups by a value that must not be stored (an e-mail, a token). */
  digester(purpose: string): (value: string) => string {
    const key = new MacKey(this.key(purpose));
    return (value) => key.mac(value);
  }
}
