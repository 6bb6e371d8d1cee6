import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreUnavailable } from '../port.ts';
import { isTransient, TimedOut } from './failures.ts';

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** Full jitter: callers that fail together do not retry together. */
export const backOff = (tries: number, longest = LONGEST_PAUSE_MS): number =>
  Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** tries, longest);

/** Timeouts in milliseconds: of a whole operation with all calls and retries, and of each call. */
export interface OperationTimeouts {
  readonly totalMs: number;
  readonly callMs: number;
}

/** The deadline of an operation, by the monotonic clock. */
export class Deadline {
  readonly #at: number;
  readonly #callMs: number;
  /** Minimum time for a call. A call with less would look like a silent peer. */
  readonly #leastMs: number;

  constructor({ totalMs, callMs }: OperationTimeouts) {
    this.#at = performance.now() + totalMs;
    this.#callMs = callMs;
    this.#leastMs = Math.min(callMs, totalMs / 10);
  }

  get remainingMs(): number {
    return Math.max(0, this.#at - performance.now());
  }

  /** Returns the timeout for a call that starts now. Throws if there is too little time left. */
  callMs(): number {
    if (this.remainingMs < this.#leastMs) throw new TimedOut(this.remainingMs);
    return Math.min(this.remainingMs, this.#callMs);
  }

  /** Waits a little longer with every try. Throws if there is no time for another. */
  async pause(tries: number, cause: unknown): Promise<void> {
    const pauseMs = backOff(tries);
    if (this.remainingMs - pauseMs < this.#leastMs) {
      throw new EventStoreUnavailable('the event store did not respond in time', { cause });
    }
    await sleep(pauseMs);
  }

  /** Repeats a call while its outcome is unknown and there is time. */
  async persist<T>(call: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call();
      } catch (error) {
        if (!isTransient(error)) throw error;
        await this.pause(tries, error);
      }
    }
  }
}

/** Rejects after the timeout. A later outcome of `work` is ignored. */
export async function abandonAfter<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
