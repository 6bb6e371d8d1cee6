import { hash } from 'node:crypto';

const BLOCK = 64; // SHA-256, FIPS 180-4
const DIGEST = 32;

/**
 * HMAC-SHA256 (RFC 2104) by two one-shot digests over reused buffers, without an Hmac object per entry. The key of 32
 * bytes is shorter than a block, so it is not hashed first.
 * Gain: `npm run bench -- without chain-key`: 1.10 (95 %: 0.99 to 1.14).
 */
export class ChainKey {
  // `#private`, so that the key cannot be read at run time either.
  readonly #outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);
  #inner = Buffer.alloc(64 * 1024);

  constructor(key: Buffer) {
    if (key.length > BLOCK) throw new TypeError('the audit key is longer than a block of SHA-256');
    this.#inner.fill(0x36, 0, BLOCK);
    for (let index = 0; index < key.length; index += 1) {
      this.#inner[index]! ^= key[index]!;
      this.#outer[index]! ^= key[index]!;
    }
  }

  /** Hex MAC of both texts, concatenated. */
  mac(before: string, text: string): string {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    const most = BLOCK + 3 * (before.length + text.length);
    if (most > this.#inner.length) this.#inner = Buffer.concat([this.#inner.subarray(0, BLOCK)], 2 * most);
    let size = BLOCK;
    size += this.#inner.write(before, size);
    size += this.#inner.write(text, size);
    this.#outer.write(hash('sha256', this.#inner.subarray(0, size), 'binary'), BLOCK, 'latin1');
    return hash('sha256', this.#outer, 'hex');
  }
}
