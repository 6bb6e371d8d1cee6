import { createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { derivedId } from './derived-id.ts';

/** Returns an integer from 0 to `below` - 1, uniformly distributed. */
export type PickInteger = (below: number) => number;

/**
 * Ids and secrets that a request creates, each under a name. They are random. If the request has an idempotency key,
 * they are derived from a random seed that is stored with the key, so that a retry of the request creates the same
 * ones.
 */
export class FreshValues {
  readonly #seed: Buffer | undefined;

  constructor(seed?: Buffer) {
    this.#seed = seed;
  }

  id(name: string): string {
    return this.#seed ? derivedId('fresh id', this.#stream(`id ${name}`, 0).toString('hex')) : randomUUID();
  }

  bytes(name: string, size: number): Buffer {
    if (!this.#seed) return randomBytes(size);
    const blocks = Array.from({ length: Math.ceil(size / 32) }, (_, counter) => this.#stream(`bytes ${name}`, counter));
    return Buffer.concat(blocks).subarray(0, size);
  }

  /** Calls with one name continue one sequence. */
  integers(name: string): PickInteger {
    if (!this.#seed) return (below) => randomInt(below);
    let counter = 0;
    return (below) => {
      // Draws from the last, incomplete range are rejected: they would make some results likelier than others.
      const limit = 2 ** 48 - (2 ** 48 % below);
      for (;;) {
        const drawn = this.#stream(`integers ${name}`, counter).readUIntBE(0, 6);
        counter += 1;
        if (drawn < limit) return drawn % below;
      }
    };
  }

  /** HMAC-SHA256 in counter mode (NIST SP 800-108r1, section 4.1). */
  #stream(label: string, counter: number): Buffer {
    return createHmac('sha256', this.#seed!).update(`${counter}|${label}`).digest();
  }
}
