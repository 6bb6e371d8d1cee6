import { LRUCache } from 'lru-cache';
import { momentOf } from '../../../platform/time-zones/wall-clock.ts';

/** When people hand over: every so many calendar days at one local time, from a first day on. */
export interface HandoffPlan {
  readonly timezone: string;
  /** `HH:MM`. */
  readonly handoffTime: string;
  /** `YYYY-MM-DD`. */
  readonly startDate: string;
  readonly days: number;
}

const DAY_MS = 86_400_000;
/** Handoffs that are computed together. */
const BLOCK = 16;
/** Blocks that a plan keeps, 4 KiB of numbers in total: for daily handoffs, 17 months. */
const MAX_BLOCKS = 32;

/**
 * The moments of a plan's handoffs. A conversion between a zone and a moment costs microseconds, so handoffs are
 * computed in blocks, ahead of the questions, and kept.
 */
export class ShiftBoundaries {
  readonly #plan: HandoffPlan;
  readonly #first: number;
  readonly #blocks = new LRUCache<number, Float64Array>({ max: MAX_BLOCKS });

  constructor(plan: HandoffPlan) {
    this.#plan = plan;
    this.#first = momentOf(plan.timezone, plan.startDate, plan.handoffTime);
  }

  /** The start of the n-th shift (from 0), in epoch milliseconds. */
  start(n: number): number {
    return this.#block(Math.floor(n / BLOCK))[n % BLOCK]!;
  }

  /** The number of the shift that a moment lies in; -1 before the first one. */
  numberAt(moment: number): number {
    const first = this.#first;
    if (moment < first) return -1;
    let n = Math.floor((moment - first) / (this.#plan.days * DAY_MS));
    // The estimate is wrong by at most the hours that clocks were changed by, or a day that a zone skipped.
    while (n > 0 && this.start(n) > moment) n -= 1;
    while (this.start(n + 1) <= moment) n += 1;
    return n;
  }

  #block(number: number): Float64Array {
    const known = this.#blocks.get(number);
    if (known) return known;
    const { timezone, handoffTime, startDate, days } = this.#plan;
    const block = Float64Array.from({ length: BLOCK }, (_, index) =>
      momentOf(timezone, startDate, handoffTime, (number * BLOCK + index) * days),
    );
    this.#blocks.set(number, block);
    return block;
  }
}
