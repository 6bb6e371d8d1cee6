import { hash } from 'node:crypto';

const BLOCK = 64; // SHA-256, FIPS 180-4
const DIGEST = 32;

/**
 * A key of HMAC-SHA256 (RFC 2104): two one-shot digests over reused buffers take half as long as an Hmac object for each
 * text. A key that is no longer than a block is not hashed first.
 */
export class MacKey {
  // `#private`, so that the key cannot be read at run time either.
  readonly #outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);
  #inner = Buffer.alloc(BLOCK + 1024);

  constructor(key: Buffer) {
    if (key.length > BLOCK) throw new TypeError('the key is longer than a block of SHA-256');
    this.#inner.fill(0x36, 0, BLOCK);
    for (let index = 0; index < key.length; index += 1) {
      this.#inner[index]! ^= key[index]!;
      this.#outer[index]! ^= key[index]!;
    }
  }

  /** Hex MAC of both texts, concatenated. */
  mac(text: string, continued = ''): string {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    const needed = BLOCK + 3 * (text.length + continued.length);
    if (needed > this.#inner.length) this.#inner = Buffer.concat([this.#inner.subarray(0, BLOCK)], 2 * needed);
    let size = BLOCK;
    size += this.#inner.write(text, size);
    size += this.#inner.write(continued, size);
    this.#outer.write(hash('sha256', this.#inner.subarray(0, size), 'binary'), BLOCK, 'latin1');
    return hash('sha256', this.#outer, 'hex');
  }
}
