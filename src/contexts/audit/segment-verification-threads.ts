import { availableParallelism } from 'node:os';
import { Thread } from '../../platform/threads/thread.ts';
import type { SegmentVerifiers, SegmentVerification } from './chain-segments.ts';
import type { ChainSegment, SegmentResult } from './segment-verification.ts';
import type { SegmentThreadData } from './segment-verification-thread.ts';

const ENTRY = new URL('segment-verification-thread.ts', import.meta.url);
const MAX_THREADS = 4;
/** Takes a few tenths of a second to verify. */
const SEGMENT_SIZE = 10_000;

/**
 * Verifies segments in threads, one per core up to four, each with two database connections of its own. That leaves the
 * main thread to requests.
 *
 * On two cores a verification that is alone takes a fifth longer (`npm run bench -- without verification-threads
 * verify-threads`: 0.81, 95 %: 0.77 to 0.85), and requests beside it are twice as fast (`read-beside-verify`: 2.05, 1.93
 * to 2.13).
 *
 * Only one chain is verified at a time. A process creates one instance, so the number of tenants that ask does not
 * change how many cores and connections are used.
 */
export function verifySegmentsInThreads(data: SegmentThreadData, size = SEGMENT_SIZE): SegmentVerification {
  let isTaken = false;
  return {
    size,
    open: () => {
      if (isTaken) return undefined;
      const threads = new VerificationThreads(data, () => (isTaken = false));
      isTaken = true;
      return threads;
    },
  };
}

class VerificationThreads implements SegmentVerifiers {
  readonly count = Math.min(MAX_THREADS, availableParallelism());
  readonly #threads: Thread<ChainSegment, SegmentResult>[];
  readonly #closed: () => void;
  #turn = 0;

  constructor(data: SegmentThreadData, closed: () => void) {
    this.#closed = closed;
    this.#threads = Array.from({ length: this.count }, () => new Thread<ChainSegment, SegmentResult>(ENTRY, data));
  }

  verify(segment: ChainSegment): Promise<SegmentResult> {
    this.#turn = (this.#turn + 1) % this.count;
    return this.#threads[this.#turn]!.request(segment);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close())).finally(this.#closed);
  }
}
