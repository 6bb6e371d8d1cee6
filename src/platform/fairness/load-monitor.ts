/** Measurements that are looked at together. */
const LATEST = 10;
/** Of these, one in so many may be slow by chance. */
const SLOW_BY_CHANCE = 3;
/** Slower than this many times the fastest that was seen is strained. */
const TIMES = 3;
/** What a turn or two of other callers' work takes; below this nobody is kept waiting. */
const NOTHING_MS = 4;
/** The fastest is forgotten after so many: a database that was moved may be farther away. */
const REMEMBERED = 36_000;

/**
 * Whether short requests are kept waiting, judged by one that the process asks again and again: the way through the event loop, the pool and
 * the database, which sign-in and policy fetches go, too. It is compared with its own best, so that no figure has to fit every machine.
 */
export class LoadMonitor {
  readonly #latest: number[] = [];
  #best = Number.POSITIVE_INFINITY;
  #bestOfThisTerm = Number.POSITIVE_INFINITY;
  #seen = 0;

  /** How long the latest one took, in milliseconds. */
  observe(ms: number): void {
    this.#latest.push(ms);
    if (this.#latest.length > LATEST) this.#latest.shift();
    this.#best = Math.min(this.#best, ms);
    this.#bestOfThisTerm = Math.min(this.#bestOfThisTerm, ms);
    this.#seen += 1;
    if (this.#seen % REMEMBERED > 0) return;
    [this.#best, this.#bestOfThisTerm] = [this.#bestOfThisTerm, Number.POSITIVE_INFINITY];
  }

  get isOverloaded(): boolean {
    const slowest = this.#latest.toSorted((a, b) => b - a);
    return (slowest[SLOW_BY_CHANCE - 1] ?? 0) > Math.max(NOTHING_MS, TIMES * this.#best);
  }
}
