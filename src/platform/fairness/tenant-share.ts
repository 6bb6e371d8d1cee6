import type { DatabaseProbe } from './database-probe.ts';

/** Concurrent requests per tenant when there is no overload: practically unlimited. */
const MAX_SHARE = 32;
/** One request at a time, followed by a pause of the same length. */
const MIN_SHARE = 0.5;
const SHRINK = 0.5;
const GROW = 1.04;
/** Used near the share that caused the last overload. */
const GROW_CAREFULLY = 1.01;
/** Short requests that are all slow for this long, beside the smallest share, are slow for another reason. */
const IN_VAIN_MS = 2_000;
/** The share after that: it grows from here, as tenants may be busy besides. */
const SHARE_AFTER_VAIN = 4;

/** How many requests of one tenant may be in work at a time: fewer while short requests have to wait, then more again. */
export class TenantShare {
  readonly #database: DatabaseProbe;
  #size = MAX_SHARE;
  /** The share during the last overload. */
  #overloadSize = MAX_SHARE;
  #wasOverloaded = false;
  /** Since when the smallest share has not ended the overload. */
  #inVainSince: number | undefined;

  constructor(database: DatabaseProbe) {
    this.#database = database;
  }

  /** Below one: one at a time, with a pause after each. */
  get size(): number {
    return this.#size;
  }

  /** There is no limit, and no memory of an overload. */
  reset(): void {
    [this.#size, this.#overloadSize] = [MAX_SHARE, MAX_SHARE];
    this.#inVainSince = undefined;
  }

  /**
   * Each smaller share is judged by probes that were sent under it: older ones would halve it again and again.
   *
   * `busiest`: concurrent requests of the busiest tenant since the last adjustment, on average.
   */
  adjust(busiest: number): void {
    const { load } = this.#database;
    if (load === 'unknown') return;
    const wasOverloaded = this.#wasOverloaded;
    this.#wasOverloaded = load === 'over';
    if (!this.#wasOverloaded) return this.#grow();
    // If no tenant is busy, limiting tenants would not help.
    if (busiest < Math.min(1, this.#size) / 2) return;
    if (!wasOverloaded) this.#overloadSize = this.#size;
    if (this.#size === MIN_SHARE) return this.#limitInVain();
    this.#size = Math.max(MIN_SHARE, this.#size * SHRINK);
    this.#database.startAnew();
  }

  #grow(): void {
    this.#inVainSince = undefined;
    const factor = this.#size < this.#overloadSize / 2 ? GROW : GROW_CAREFULLY;
    this.#size = Math.min(MAX_SHARE, this.#size * factor);
  }

  /** Fewer requests of tenants do not make short requests faster, as with a slow network: the limit would only add to it. */
  #limitInVain(): void {
    const now = performance.now();
    this.#inVainSince ??= now;
    this.#database.startAnew();
    if (now - this.#inVainSince < IN_VAIN_MS || !this.#database.isSlowThroughout) return;
    this.#inVainSince = undefined;
    [this.#size, this.#overloadSize] = [SHARE_AFTER_VAIN, MAX_SHARE];
    this.#database.acceptLatency();
  }
}
