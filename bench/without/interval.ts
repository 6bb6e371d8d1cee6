import { median } from '../measure.ts';

/**
 * A median with the interval that contains it with at least 95 %, from order statistics: no assumption about the
 * distribution of rounds.
 */
export interface Median {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function medianOf(values: readonly number[]): Median {
  const sorted = [...values].sort((a, b) => a - b);
  const out = outside(sorted.length);
  return { median: median(sorted), low: sorted[out]!, high: sorted[sorted.length - 1 - out]! };
}

/** How many may be left out at each end: the binomial distribution of the number of rounds below the true median. */
function outside(count: number): number {
  let probability = 0.5 ** count;
  let below = probability;
  let out = 0;
  while (below <= 0.025 && out < (count - 1) >> 1) {
    out += 1;
    probability *= (count - out + 1) / out;
    below += probability;
  }
  return below > 0.025 ? Math.max(0, out - 1) : out;
}
