import { availableParallelism } from 'node:os';
import { Thread } from '../../platform/threads/thread.ts';
import type { SegmentVerifiers, SegmentVerification } from './chain-segments.ts';
import type { ChainSegment, SegmentResult } from './segment-verification.ts';
import type { SegmentThreadData } from './segment-verification-thread.ts';

const ENTRY = new URL('segment-verification-thread.ts', import.meta.url);
const MOST = 4;
/** Takes a few tenths of a second to verify. */
const STRETCH = 10_000;

/**
 * Verifies segments in threads, one per core up to four, each with two database connections of its own. That leaves the
 * main thread to requests.
 *
 * Threads gain only where cores are free: `npm run bench -- without walking-threads` gave 0.81 (95 %: 0.69 to 0.92) on two
 * cores that other work kept busy.
 *
 * Only one chain is verified at a time. A process creates one instance, so the number of tenants that ask does not
 * change how many cores and connections are used.
 */
export function verifySegmentsInThreads(data: SegmentThreadData, stretch = STRETCH): SegmentVerification {
  let isTaken = false;
  return {
    stretch,
    open: () => {
      if (isTaken) return undefined;
      const threads = new WalkingThreads(data, () => (isTaken = false));
      isTaken = true;
      return threads;
    },
  };
}

class WalkingThreads implements SegmentVerifiers {
  readonly count = Math.min(MOST, availableParallelism());
  readonly #threads: Thread<ChainSegment, SegmentResult>[];
  readonly #closed: () => void;
  #turn = 0;

  constructor(data: SegmentThreadData, closed: () => void) {
    this.#closed = closed;
    this.#threads = Array.from({ length: this.count }, () => new Thread<ChainSegment, SegmentResult>(ENTRY, data));
  }

  walk(stretch: ChainSegment): Promise<SegmentResult> {
    this.#turn = (this.#turn + 1) % this.count;
    return this.#threads[this.#turn]!.request(stretch);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close())).finally(this.#closed);
  }
}
