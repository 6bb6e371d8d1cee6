import { LRUCache } from 'lru-cache';
import type { Numbering } from './held-numbers.ts';

/** How long it takes under load until an offered number is claimed and projected. */
const FRESH_MS = 5_000;
const MAX_NUMBERINGS = 1_000;

/**
 * Numbers that this process offered within the last seconds. Only a hint to avoid races: nothing is refused because of
 * it.
 */
export class OfferedNumbers {
  readonly #until = new LRUCache<string, Map<number, number>>({ max: MAX_NUMBERINGS });

  add({ tenantId, kind }: Numbering, numbers: readonly number[]): void {
    const name = `${tenantId}/${kind}`;
    const now = performance.now();
    const offered = this.#until.get(name) ?? new Map<number, number>();
    // The map is in the order of the offers.
    for (const [number, until] of offered) {
      if (until > now) break;
      offered.delete(number);
    }
    for (const number of numbers) {
      offered.delete(number);
      offered.set(number, now + FRESH_MS);
    }
    this.#until.set(name, offered);
  }

  among({ tenantId, kind }: Numbering, numbers: readonly number[]): number[] {
    const offered = this.#until.get(`${tenantId}/${kind}`);
    if (!offered) return [];
    const now = performance.now();
    return numbers.filter((number) => (offered.get(number) ?? 0) > now);
  }
}
