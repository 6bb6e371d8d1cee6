import { FairQueue } from './fair-queue.ts';

/** A bounded resource is in use, and so is the place in its queue: HTTP answers 503, or 429 where the caller's own share is used up, with `Retry-After`. */
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
  /** Named in the error. */
  readonly what: string;
  /** Pieces of work at a time, of all keys. */
  readonly atOnce: number;
  /** Pieces of work at a time of one key: the rest of `runConcurrently` is for others. */
  readonly perKey: number;
  /** Callers that may wait, of all keys and of one key. 0: nobody waits. */
  readonly waiting: number;
  readonly waitingPerKey: number;
  /** Nobody waits longer than this. */
  readonly waitMs: number;
  /** For `Retry-After`. Default: 1. */
  readonly retryAfterSeconds?: number;
  /** Pieces of work are short: where none ended during a whole wait, the resource stands still (a frozen database), which is not the caller's doing. */
  readonly isShort?: boolean;
}

interface Waiter {
  readonly path: readonly [string];
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Limits how much of a shared resource is in use, in all and by one key (a tenant, a device). Callers beyond the limit wait in a
 * bounded queue, for a bounded time, and are served by turns of their keys: a key that floods the queue delays only itself.
 */
export class FairLimiter {
  readonly #shares: ResourceShares;
  readonly #running = new Map<string, number>();
  readonly #waiting = new FairQueue<Waiter>();
  #total = 0;
  /** Pieces of work that have ended, ever. */
  #ended = 0;

  constructor(shares: ResourceShares) {
    this.#shares = shares;
  }

  get running(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Does the work when it is the key's turn. Rejects with `TooBusy` where the queue is full or the wait is over. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.enter(key);
    if (waiting) await waiting;
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  /** Undefined where the caller may begin at once. Every `enter` that did not reject needs one `leave`. Throws `TooBusy`. */
  enter(key: string): Promise<void> | undefined {
    if (this.#mayBegin(key)) {
      this.#begin(key);
      return undefined;
    }
    const { what, waiting, waitingPerKey, waitMs, retryAfterSeconds = 1, isShort = false } = this.#shares;
    const isOwnShare = this.#isShareUsed(key) || (waitingPerKey > 0 && this.#waiting.sizeOf(key) >= waitingPerKey);
    if (this.#waiting.size >= waiting || this.#waiting.sizeOf(key) >= waitingPerKey)
      throw new TooBusy(what, { isOwnShare, retryAfterSeconds });
    return new Promise((resolve, reject) => {
      const path = [key] as const;
      const ended = this.#ended;
      const giveUp = () => {
        if (this.#waiting.remove(path, waiter))
          reject(
            new TooBusy(what, { isOwnShare: isOwnShare && !(isShort && this.#ended === ended), retryAfterSeconds }),
          );
      };
      const waiter: Waiter = { path, begin: resolve, timer: setTimeout(giveUp, waitMs) };
      this.#waiting.push(path, waiter);
    });
  }

  leave(key: string): void {
    this.#ended += 1;
    const left = (this.#running.get(key) ?? 0) - 1;
    if (left > 0) this.#running.set(key, left);
    else this.#running.delete(key);
    this.#total -= 1;
    this.#serve();
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

  #begin(key: string): void {
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    this.#total += 1;
  }

  #mayBegin(key: string): boolean {
    return this.#total < this.#shares.atOnce && !this.#isShareUsed(key);
  }

  #isShareUsed(key: string): boolean {
    return (this.#running.get(key) ?? 0) >= this.#shares.perKey;
  }
}
