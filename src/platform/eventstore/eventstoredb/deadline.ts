import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreUnavailable } from '../port.ts';
import { isTransient, TimedOut } from './failures.ts';

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** Full jitter: whoever failed together does not come back together. */
export const backOff = (tries: number, longest = LONGEST_PAUSE_MS): number =>
  Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** tries, longest);

/** Milliseconds: what an operation may take with all its calls and retries, and what each call may. */
export interface OperationTimeouts {
  readonly totalMs: number;
  readonly callMs: number;
}

/** When an operation has to be over, by a clock that nobody sets. */
export class Deadline {
  readonly #at: number;
  readonly #callMs: number;
  /** A call that starts with less than this would only be mistaken for a peer that says nothing. */
  readonly #leastMs: number;

  constructor({ totalMs, callMs }: OperationTimeouts) {
    this.#at = performance.now() + totalMs;
    this.#callMs = callMs;
    this.#leastMs = Math.min(callMs, totalMs / 10);
  }

  get remainingMs(): number {
    return Math.max(0, this.#at - performance.now());
  }

  /** How long a call that starts now may take; throws when it is too late for one. */
  callMs(): number {
    if (this.remainingMs < this.#leastMs) throw new TimedOut(this.remainingMs);
    return Math.min(this.remainingMs, this.#callMs);
  }

  /** Waits a little longer with every try; throws when there is no time for another. */
  async pause(tries: number, cause: unknown): Promise<void> {
    const pauseMs = backOff(tries);
    if (this.remainingMs - pauseMs < this.#leastMs) {
      throw new EventStoreUnavailable('the event store did not answer in time', { cause });
    }
    await sleep(pauseMs);
  }

  /** Repeats a call as long as its outcome is unknown and there is time. */
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

/** A promise that is given up after a while; whatever becomes of it later is nobody's concern. */
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
