import { describe, expect, it } from 'vitest';
import { TenantCache } from '../../../src/platform/projector/tenant-cache.ts';
import { streamSource, type Source } from '../../../src/platform/projector/load-sources.ts';

describe('a cache with a weight limit', () => {
  const [both, one, other] = ['both', 'one', 'other'].map(streamSource) as [Source, Source, Source];
  const acme = new Set([one, both]);
  const globex = new Set([other, both]);
  const known = (memory: TenantCache, names: string) =>
    [...names].filter((name) => memory.get(name) !== undefined).join('');

  it('evicts the oldest entries first', () => {
    const memory = new TenantCache(10);
    for (const name of 'abcde') memory.put(acme, name, { name }, 2);
    expect(known(memory, 'abcde')).toBe('abcde');
    memory.put(globex, 'f', {}, 3);
    expect(known(memory, 'abcdef')).toBe('cdef');
  });

  it('weighs a name once, however often it is put', () => {
    const memory = new TenantCache(10);
    for (let n = 0; n < 20; n += 1) memory.put(acme, 'a', n, 4);
    memory.put(acme, 'b', 1, 6);
    expect([memory.get('a'), memory.get('b')]).toEqual([19, 1]);
  });

  it('does not cache an entry that is too heavy alone, and evicts nothing for it', () => {
    const memory = new TenantCache(10);
    memory.put(acme, 'a', 1, 5);
    memory.put(acme, 'b', 1, 11);
    expect(known(memory, 'ab')).toBe('a');
  });

  it('drops a name, or everything from one source, and regains its capacity', () => {
    const memory = new TenantCache(10);
    memory.put(acme, 'a', 1, 3);
    memory.put(globex, 'b', 1, 3);
    memory.put(acme, 'c', 1, 3);
    memory.forget('a');
    memory.forget('a');
    memory.forgetSource(one);
    memory.forgetSource(one);
    expect(known(memory, 'abc')).toBe('b');
    memory.put(acme, 'd', 1, 7);
    expect(known(memory, 'abcd')).toBe('bd');
    memory.forgetSource(both);
    expect(known(memory, 'abcd')).toBe('');
  });
});
