import { isDatabaseUnavailable } from '../database/unavailable.ts';
import { EventStoreUnavailable } from '../eventstore/port.ts';
import { FailureError } from '../kernel/failure.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * A bounded resource and its queue are full. HTTP returns 503, or 429 if the caller's own share is used up, with
 * `Retry-After`.
 */
export class TooBusy extends Error {
  readonly retryAfterSeconds: number;
  /** The caller's key has used up its share; the resource itself may be free. */
  readonly isOwnShare: boolean;

  constructor(what: string, { retryAfterSeconds = 1, isOwnShare = false } = {}) {
    super(`${what}: too busy`);
    this.name = 'TooBusy';
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOwnShare = isOwnShare;
  }
}

export interface ResourceShares {
  /** Names the resource in the error. */
  readonly what: string;
  /** Concurrent pieces of work, of all keys. */
  readonly atOnce: number;
  /** Concurrent pieces of work of one key. The rest of `atOnce` is for other keys. */
  readonly perKey: number;
  /** Waiting callers, of all keys and of one key. 0: callers never wait. */
  readonly waiting: number;
  readonly waitingPerKey: number;
  /** The longest wait. */
  readonly waitMs: number;
  /** For `Retry-After`. Default: 1. */
  readonly retryAfterSeconds?: number;
  /**
   * Work is short. If none has ended well for a while, the resource hangs (a frozen database), which is not the caller's
   * fault.
   */
  readonly isShort?: boolean;
}

/** If no short work has ended well for this long, although some is running, the resource hangs. */
const HANG_MS = 500;

/** The resource did not respond: work that ended this way is no sign that the resource works. */
const isSilence = (error: unknown): boolean =>
  error instanceof TooBusy ||
  error instanceof EventStoreUnavailable ||
  (error instanceof FailureError && error.failure.kind === 'unavailable') ||
  isDatabaseUnavailable(error);

/** The work of one key that is running. */
interface Use {
  count: number;
  /** When work of this key last ended with a response, or the first of it began. */
  movedAt: number;
}

interface Waiter {
  readonly path: readonly [string];
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Limits the use of a shared resource, in all and by one key (a tenant, a device). Callers over the limit wait in a
 * bounded queue for a bounded time. The queue serves keys in turns, so a key that floods it delays only itself.
 */
export class FairLimiter {
  readonly #shares: ResourceShares;
  readonly #running = new Map<string, Use>();
  readonly #waiting = new FairQueue<Waiter>();
  #total = 0;
  /** When work last ended well, or began while nothing was running. */
  #movedAt = performance.now();
  /** The last piece of work that ended got no response. */
  #isSilent = false;
  /** When the resource last moved again after it had hung. */
  #hungUntil = Number.NEGATIVE_INFINITY;

  constructor(shares: ResourceShares) {
    this.#shares = shares;
  }

  get running(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Work of this key would begin at once. */
  hasRoom(key: string): boolean {
    return this.#mayBegin(key);
  }

  /** Runs `work` when it is the key's turn. Rejects with `TooBusy` if the queue is full or the wait times out. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.enter(key);
    if (waiting) await waiting;
    let hasResponded = true;
    try {
      return await work();
    } catch (error) {
      hasResponded = !isSilence(error);
      throw error;
    } finally {
      this.leave(key, hasResponded);
    }
  }

  /**
   * Returns undefined if the caller may start now, otherwise a promise of its turn. Call `leave` once for every `enter`
   * that succeeds. Throws or rejects with `TooBusy`.
   */
  enter(key: string): Promise<void> | undefined {
    if (this.#mayBegin(key)) {
      this.#begin(key);
      return undefined;
    }
    const { what, waiting, waitingPerKey, waitMs, retryAfterSeconds = 1 } = this.#shares;
    const usesShare = this.#isShareUsed(key) || (waitingPerKey > 0 && this.#waiting.sizeOf(key) >= waitingPerKey);
    const tooBusy = () => new TooBusy(what, { isOwnShare: usesShare && !this.#hasHung(key), retryAfterSeconds });
    if (this.#waiting.size >= waiting || this.#waiting.sizeOf(key) >= waitingPerKey) throw tooBusy();
    return new Promise((resolve, reject) => {
      const path = [key] as const;
      const giveUp = () => {
        if (this.#waiting.remove(path, waiter)) reject(tooBusy());
      };
      const waiter: Waiter = { path, begin: resolve, timer: setTimeout(giveUp, waitMs) };
      this.#waiting.push(path, waiter);
    });
  }

  /** `hasResponded`: the resource did what was asked, or refused it; it did not fall silent. */
  leave(key: string, hasResponded = true): void {
    const use = this.#running.get(key);
    if (this.#isHanging || (use && this.#isStuck(use))) this.#hungUntil = performance.now();
    if (hasResponded) this.#movedAt = performance.now();
    this.#isSilent = !hasResponded;
    if (use) this.#end(key, use, hasResponded);
    this.#total -= 1;
    this.#serve();
  }

  #end(key: string, use: Use, hasResponded: boolean): void {
    use.count -= 1;
    if (hasResponded) use.movedAt = performance.now();
    if (use.count === 0) this.#running.delete(key);
  }

  #serve(): void {
    while (this.#total < this.#shares.atOnce) {
      const next = this.#waiting.shift((key) => !this.#isShareUsed(key));
      if (!next) return;
      clearTimeout(next.timer);
      this.#begin(next.path[0]);
      next.begin();
    }
  }

  /** The resource, not the key, is the cause of waiting. */
  get #isHanging(): boolean {
    return this.#shares.isShort === true && this.#total > 0 && performance.now() - this.#movedAt >= HANG_MS;
  }

  /**
   * Nothing of this key got a response for half of the time that callers wait, although its work is short: its
   * connections are silent, while those of other keys may be well.
   */
  #isStuck({ movedAt }: Use): boolean {
    return this.#shares.isShort === true && performance.now() - movedAt >= this.#shares.waitMs / 2;
  }

  /**
   * The resource hangs, or hung while callers of now began to wait: the queue is then what the hang left, and no key is
   * the cause.
   */
  #hasHung(key: string): boolean {
    const use = this.#running.get(key);
    if (this.#isHanging || (use && this.#isStuck(use))) return true;
    return performance.now() - this.#hungUntil <= this.#shares.waitMs;
  }

  #begin(key: string): void {
    if (this.#total === 0 && !this.#isSilent) this.#movedAt = performance.now();
    const use = this.#running.get(key);
    if (use) use.count += 1;
    else this.#running.set(key, { count: 1, movedAt: performance.now() });
    this.#total += 1;
  }

  #mayBegin(key: string): boolean {
    return this.#total < this.#shares.atOnce && !this.#isShareUsed(key);
  }

  #isShareUsed(key: string): boolean {
    return (this.#running.get(key)?.count ?? 0) >= this.#shares.perKey;
  }
}
