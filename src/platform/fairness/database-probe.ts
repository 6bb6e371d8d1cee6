import { LoadMonitor, type Load } from './load-monitor.ts';

/**
 * If the database does not respond to a short query for this long, it is frozen or down, which is not a tenant's fault.
 */
const HANG_MS = 1_000;
/** From here on, a refusal no longer blames the tenant: it may be that the database hangs. */
const SUSPECT_MS = 500;
/**
 * Sends short queries to the database and learns from their times whether it is overloaded, or does not respond at all.
 */
export class DatabaseProbe {
  readonly #probe: () => Promise<unknown>;
  readonly #aftermathMs: number;
  readonly #loadMonitor = new LoadMonitor();
  #probedAt: number | undefined;
  /** The last probe failed: the database is down. */
  #isDown = false;
  /** When the database last responded again after a silence. */
  #silentUntil = Number.NEGATIVE_INFINITY;

  /** After a silence, `wasSilent` stays true for `aftermathMs` milliseconds. */
  constructor(probe: () => Promise<unknown>, aftermathMs: number) {
    this.#probe = probe;
    this.#aftermathMs = aftermathMs;
  }

  get load(): Load {
    return this.#loadMonitor.load;
  }

  /** Judges the load by later probes only. */
  startAnew(): void {
    this.#loadMonitor.startAnew();
  }

  get isSlowThroughout(): boolean {
    return this.#loadMonitor.isSlowThroughout;
  }

  /** Takes the present times as usual: they are nobody's fault. */
  acceptLatency(): void {
    this.#loadMonitor.acceptLatency();
  }

  /** The database is frozen or down. */
  get isHanging(): boolean {
    return this.#isSilentFor(HANG_MS);
  }

  #isSilentFor(ms: number): boolean {
    return this.#isDown || (this.#probedAt !== undefined && performance.now() - this.#probedAt > ms);
  }

  /** Requests that wait now may have come while the database was silent. The silence then explains the queue. */
  get wasSilent(): boolean {
    return this.#isSilentFor(SUSPECT_MS) || performance.now() - this.#silentUntil <= this.#aftermathMs;
  }

  /** One probe at a time. A result after a standstill is ignored: it says nothing about tenants. */
  async probeOnce(): Promise<void> {
    if (this.#probedAt !== undefined) return;
    const begun = performance.now();
    this.#probedAt = begun;
    try {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#probe();
      if (this.#isSilentFor(SUSPECT_MS)) this.#silentUntil = performance.now();
      this.#isDown = false;
    } catch {
      // Other code reports that the database is down, and it is not a tenant's fault.
      this.#isDown = true;
      return;
    } finally {
      this.#probedAt = undefined;
    }
    const took = performance.now() - begun;
    if (took <= HANG_MS) this.#loadMonitor.observe(took);
  }
}
