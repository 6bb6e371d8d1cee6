import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Batcher } from '../../../src/platform/database/batcher.ts';

describe('a batcher', () => {
  const doubling = () => {
    const done: [string, readonly number[]][] = [];
    const batcher = new Batcher(async (key: string, numbers: readonly number[]) => {
      done.push([key, numbers]);
      await nextTurn();
      if (numbers.includes(0)) throw new Error('nothing to double');
      return numbers.map((number) => number * 2);
    });
    return { batcher, done };
  };

  it('runs all keys of one tick at once, and gives each caller its own result', async () => {
    const { batcher, done } = doubling();
    const later = Promise.resolve().then(() => batcher.load('a', 3));
    expect(await Promise.all([batcher.load('a', 1), batcher.load('a', 2), later])).toEqual([2, 4, 6]);
    expect(done).toEqual([['a', [1, 2, 3]]]);
  });

  it("does not mix batch keys: no tenant is part of another tenant's query", async () => {
    const { batcher, done } = doubling();
    expect(await Promise.all([batcher.load('a', 1), batcher.load('b', 2), batcher.load('a', 3)])).toEqual([2, 4, 6]);
    expect(done).toEqual([
      ['a', [1, 3]],
      ['b', [2]],
    ]);
  });

  it('runs calls of the next tick separately', async () => {
    const { batcher, done } = doubling();
    const first = batcher.load('a', 1);
    await nextTurn();
    const second = batcher.load('a', 2);
    expect(await Promise.all([first, second])).toEqual([2, 4]);
    expect(done).toEqual([
      ['a', [1]],
      ['a', [2]],
    ]);
  });

  it('fails for all callers of the batch, and for no others', async () => {
    const { batcher } = doubling();
    const outcomes = await Promise.allSettled([batcher.load('a', 1), batcher.load('a', 0), batcher.load('b', 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(await batcher.load('a', 4)).toBe(8);
  });

  it('splits large batches', async () => {
    const { batcher, done } = doubling();
    const asked = Array.from({ length: 2_500 }, (_, at) => at + 1);
    expect(await Promise.all(asked.map((number) => batcher.load('a', number)))).toEqual(
      asked.map((number) => number * 2),
    );
    expect(done.map(([, numbers]) => numbers.length)).toEqual([1_000, 1_000, 500]);
  });
});
