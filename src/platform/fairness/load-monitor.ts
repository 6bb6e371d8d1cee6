/** Size of the sliding window. */
const WINDOW = 10;
/** The n-th slowest of the window is judged, because slower ones may be chance. */
const JUDGED_RANK = 3;
/** From so few measurements it does not follow that short requests are fast. */
const LEAST = 5;
/** Overloaded: slower than this factor times the fastest. */
const OVERLOAD_FACTOR = 3;
/** The time of a tick or two of other callers' work. Below this, nothing counts as overload. */
const NEGLIGIBLE_MS = 4;
/** Recent measurements are those of so many milliseconds. */
const RECENT_MS = 3_000;
/** After this many measurements the fastest is reset: the database may have moved farther away. */
const RESET_AFTER = 36_000;

/** `over`: short requests have to wait. `unknown`: too few measurements to say that they do not. */
export type Load = 'unknown' | 'usual' | 'over';

/**
 * Judges whether short requests have to wait, from a probe that runs all the time. The probe uses the same event loop,
 * pool and database as sign-in and policy fetches. It is compared with its own best time, so that no threshold has to
 * fit every machine.
 */
export class LoadMonitor {
  readonly #latest: number[] = [];
  #recent: { readonly ms: number; readonly at: number }[] = [];
  #best = Number.POSITIVE_INFINITY;
  #bestSinceReset = Number.POSITIVE_INFINITY;
  #seen = 0;

  /** Adds a measurement, in milliseconds, that ended at `at`. */
  observe(ms: number, at = performance.now()): void {
    this.#latest.push(ms);
    if (this.#latest.length > WINDOW) this.#latest.shift();
    this.#recent = [...this.#recent.filter((each) => at - each.at < RECENT_MS), { ms, at }];
    this.#best = Math.min(this.#best, ms);
    this.#bestSinceReset = Math.min(this.#bestSinceReset, ms);
    this.#seen += 1;
    if (this.#seen % RESET_AFTER > 0) return;
    [this.#best, this.#bestSinceReset] = [this.#bestSinceReset, Number.POSITIVE_INFINITY];
  }

  get load(): Load {
    const slowest = this.#latest.toSorted((a, b) => b - a);
    if (this.#isSlow(slowest[JUDGED_RANK - 1] ?? 0)) return 'over';
    return this.#latest.length < LEAST ? 'unknown' : 'usual';
  }

  /** Not even one of the recent measurements was fast: requests that come and go do not explain that. */
  get isSlowThroughout(): boolean {
    return this.#recent.length >= LEAST && this.#isSlow(this.#fastestRecent);
  }

  get #fastestRecent(): number {
    return Math.min(...this.#recent.map(({ ms }) => ms));
  }

  #isSlow(ms: number): boolean {
    return ms > Math.max(NEGLIGIBLE_MS, OVERLOAD_FACTOR * this.#best);
  }

  /** Judges by later measurements only, because something has been done about the load. The best time is kept. */
  startAnew(): void {
    this.#latest.length = 0;
  }

  /**
   * Judges by the fastest of the recent measurements from now on, as if it were the best one. A faster one takes its
   * place again.
   */
  acceptLatency(): void {
    this.#best = this.#fastestRecent;
    this.startAnew();
  }
}
