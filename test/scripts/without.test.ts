import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, without } from '../../bench/without/bundle.ts';
import { medianOf } from '../../bench/without/interval.ts';
import { parts } from '../../bench/without/parts.ts';

describe('the benchmark that removes one optimization at a time', () => {
  it.each(Object.entries(parts))('can still remove %s', (_, part) => {
    const files = new Set((part.edits ?? []).map(({ file }) => path.join(ROOT, file)));
    for (const file of files) {
      const source = readFileSync(file, 'utf8');
      expect(without(part, file, source)).not.toBe(source);
    }
    const modules = Object.entries(part.modules ?? {}).flat();
    expect(modules.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    expect(files.size + modules.length).toBeGreaterThan(0);
    expect(part.workloads.length).toBeGreaterThan(0);
  });

  it('refuses to remove a text that it does not find exactly once', () => {
    const part = { workloads: [], edits: [{ file: 'a.ts', text: 'fast', instead: 'slow' }] };
    const file = path.join(ROOT, 'a.ts');
    expect(() => without(part, file, 'neither')).toThrow('a.ts');
    expect(() => without(part, file, 'fast fast')).toThrow('a.ts');
    expect(without(part, path.join(ROOT, 'b.ts'), 'fast')).toBe('fast');
  });

  it('reports the interval that contains the median in 95 of 100 cases', () => {
    const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
    // Conover, Practical Nonparametric Statistics, table for p = 0.5: the order statistics of 10, 20 and 30 values.
    expect(medianOf(upTo(10))).toMatchObject({ low: 2, high: 9 });
    expect(medianOf(upTo(20))).toMatchObject({ low: 6, high: 15 });
    expect(medianOf(upTo(30).reverse())).toMatchObject({ low: 10, high: 21 });
    expect(medianOf(upTo(3))).toMatchObject({ median: 2, low: 1, high: 3 });
  });
});
