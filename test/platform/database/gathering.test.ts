import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Gathering } from '../../../src/platform/database/gathering.ts';

describe('what is asked for in one turn of the event loop', () => {
  const doubling = () => {
    const done: [string, readonly number[]][] = [];
    const gathering = new Gathering(async (key: string, numbers: readonly number[]) => {
      done.push([key, numbers]);
      await nextTurn();
      if (numbers.includes(0)) throw new Error('nothing to double');
      return numbers.map((number) => number * 2);
    });
    return { gathering, done };
  };

  it('is done at once, and everybody is answered what they asked for', async () => {
    const { gathering, done } = doubling();
    const later = Promise.resolve().then(() => gathering.ask('a', 3));
    expect(await Promise.all([gathering.ask('a', 1), gathering.ask('a', 2), later])).toEqual([2, 4, 6]);
    expect(done).toEqual([['a', [1, 2, 3]]]);
  });

  it('does not mix keys: no tenant is part of what another asks', async () => {
    const { gathering, done } = doubling();
    expect(await Promise.all([gathering.ask('a', 1), gathering.ask('b', 2), gathering.ask('a', 3)])).toEqual([2, 4, 6]);
    expect(done).toEqual([
      ['a', [1, 3]],
      ['b', [2]],
    ]);
  });

  it('has left when the next turn comes, which is answered by itself', async () => {
    const { gathering, done } = doubling();
    const first = gathering.ask('a', 1);
    await nextTurn();
    const second = gathering.ask('a', 2);
    expect(await Promise.all([first, second])).toEqual([2, 4]);
    expect(done).toEqual([
      ['a', [1]],
      ['a', [2]],
    ]);
  });

  it('fails for all who asked for it together, and for nobody else', async () => {
    const { gathering } = doubling();
    const outcomes = await Promise.allSettled([gathering.ask('a', 1), gathering.ask('a', 0), gathering.ask('b', 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(await gathering.ask('a', 4)).toBe(8);
  });

  it('goes in parts when it is very much', async () => {
    const { gathering, done } = doubling();
    const asked = Array.from({ length: 2_500 }, (_, at) => at + 1);
    expect(await Promise.all(asked.map((number) => gathering.ask('a', number)))).toEqual(
      asked.map((number) => number * 2),
    );
    expect(done.map(([, numbers]) => numbers.length)).toEqual([1_000, 1_000, 500]);
  });
});
