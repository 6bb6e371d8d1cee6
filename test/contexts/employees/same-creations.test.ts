import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { SameCreations } from '../../../src/contexts/employees/same-creations.ts';

describe('requests that create one person at once', () => {
  let creations: SameCreations;
  let begun: string[];
  const ends = new Map<string, (error?: Error) => void>();
  beforeEach(() => {
    creations = new SameCreations();
    begun = [];
  });
  const create = (request: string, name = 'ann') =>
    creations.afterFirst(name, () => {
      begun.push(request);
      return new Promise<string>((resolve, reject) =>
        ends.set(request, (error) => (error ? reject(error) : resolve(request))),
      );
    });

  it('wait for the first of them, and then go on together', async () => {
    const all = ['a', 'b', 'c'].map((request) => create(request));
    await nextTurn();
    expect(begun).toEqual(['a']);
    ends.get('a')!();
    await nextTurn();
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const request of ['b', 'c']) ends.get(request)!();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('go on if the first fails, which alone gets its error', async () => {
    const first = create('a');
    const second = create('b');
    await nextTurn();
    ends.get('a')!(new Error('refused'));
    await expect(first).rejects.toThrow('refused');
    await nextTurn();
    ends.get('b')!();
    expect(await second).toBe('b');
    void create('c');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('do not wait for those of others', () => {
    void create('a', 'ann');
    void create('b', 'bob');
    expect(begun).toEqual(['a', 'b']);
  });
});
