import { createHmac } from 'node:crypto';

/** Replaces `chain-key.ts`: the platform's HMAC. */
export class ChainKey {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  mac(before: string, text: string): string {
    return createHmac('sha256', this.#key).update(before).update(text).digest('hex');
  }
}
