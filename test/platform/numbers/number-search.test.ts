import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeNumbers } from '../../../src/platform/numbers/number-search.ts';

const heldIn = (held: ReadonlySet<number>) => async (numbers: readonly number[]) =>
  new Set(numbers.filter((number) => held.has(number)));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const upTo = (granted: number) => ({ granted, everGranted: granted });

describe('a search for free numbers', () => {
  it('finds as many as requested, or all that exist', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 1, max: 40 })),
        fc.integer({ min: 1, max: 50 }),
        async (granted, taken, most) => {
          const held = new Set(taken.filter((number) => number <= granted));
          const found = await freeNumbers(upTo(granted), most, heldIn(held));
          expect(new Set(found).size).toBe(Math.min(most, granted - held.size));
          for (const number of found) expect(range(1, granted).filter((one) => !held.has(one))).toContain(number);
        },
      ),
    );
  });

  it('finds the last one of many', async () => {
    const held = new Set(range(1, 50_000));
    held.delete(32_170);
    expect(await freeNumbers(upTo(50_000), 3, heldIn(held))).toEqual([32_170]);
  });

  it('finds none without a license', async () => {
    expect(await freeNumbers(upTo(0), 1, heldIn(new Set()))).toEqual([]);
    expect(await freeNumbers({ granted: 0, everGranted: 50 }, 1, heldIn(new Set()))).toEqual([]);
  });

  it.each([
    ['of which most are free', new Set<number>(), 1, 8],
    ['that are all held', new Set(range(1, 100_000)), 12, 100_008],
  ])(
    'reads each of 100,000 numbers %s at most once besides its guesses, in a few steps',
    async (_, held, steps, looks) => {
      const asked: number[] = [];
      await freeNumbers(upTo(100_000), 1, async (numbers) => {
        asked.push(numbers.length);
        return heldIn(held)(numbers);
      });
      expect(asked.length).toBeLessThanOrEqual(steps);
      expect(asked.reduce((sum, many) => sum + many, 0)).toBeLessThanOrEqual(looks);
    },
  );

  /**
   * A caller who fills up until nothing is free has as many as the limit grants, whatever was held and released before.
   */
  it('never leads to more holders than a limit grants that followed a higher one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 0, max: 30 }),
        fc.array(fc.nat(60)),
        async (granted, more, picks) => {
          const limit = { granted, everGranted: granted + more };
          const held = new Set(
            picks
              .map((pick) => 1 + (pick % Math.max(limit.everGranted, 1)))
              .filter((number) => number <= limit.everGranted),
          );
          const before = held.size;
          for (
            let [number] = await freeNumbers(limit, 1, heldIn(held));
            number !== undefined;
            [number] = await freeNumbers(limit, 1, heldIn(held))
          ) {
            expect(held.has(number)).toBe(false);
            held.add(number);
          }
          expect(held.size).toBe(Math.max(before, granted));
        },
      ),
    );
  });
});
