import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  withBatchCounted,
  missingBatches,
  type Sequence,
} from '../../../src/contexts/telemetry/domain/sequence-gaps.ts';

const after = (...numbers: number[]): Sequence => numbers.reduce<Sequence | undefined>(withBatchCounted, undefined)!;

describe('gaps in sequence numbers', () => {
  it('start at the first received number', () => {
    expect(after(1_000)).toEqual({ last: 1_000, missing: [], unlisted: 0 });
    expect(after(5, 3)).toEqual({ last: 5, missing: [], unlisted: 0 });
  });

  it('are the missing numbers, in whatever order the rest arrived', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (rest) => {
        const numbers = [0, ...rest, ...rest.slice(0, 3)];
        const sequence = after(...numbers);
        const listed = sequence.missing.flatMap(([first, last]) =>
          Array.from({ length: last - first + 1 }, (_, n) => first + n),
        );
        expect(listed).toEqual(
          Array.from({ length: Math.max(...numbers) + 1 }, (_, n) => n).filter((n) => !numbers.includes(n)),
        );
        expect(missingBatches(sequence)).toBe(listed.length);
      }),
    );
  });

  it('stay few however many there are, and their sum stays exact', () => {
    const sequence = after(...Array.from({ length: 500 }, (_, n) => n * 2));
    expect(sequence.missing).toHaveLength(50);
    expect(missingBatches(sequence)).toBe(499);
  });
});
