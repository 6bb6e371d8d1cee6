import { describe, expect, it } from 'vitest';
import { LoadMonitor } from '../../../src/platform/fairness/load-monitor.ts';

const strainAfter = (...took: number[]): boolean => {
  const loadMonitor = new LoadMonitor();
  for (const ms of took) loadMonitor.observe(ms);
  return loadMonitor.isOverloaded;
};

describe('strain', () => {
  it('is not felt before anything was measured, nor by a single slow answer', () => {
    expect(strainAfter()).toBe(false);
    expect(strainAfter(0.5, 0.5, 40, 0.5, 300, 0.6)).toBe(false);
  });

  it('is felt when answers take several times what the best one took, and passes when they do not any more', () => {
    expect(strainAfter(0.5, 8, 9, 7)).toBe(true);
    expect(strainAfter(0.5, 8, 9, 7, ...Array.from({ length: 10 }, () => 0.6))).toBe(false);
  });

  it('is judged by what is usual here: a far database is no strain', () => {
    expect(strainAfter(...Array.from({ length: 10 }, (_, n) => 9 + (n % 3)))).toBe(false);
    expect(strainAfter(9, 30, 31, 32)).toBe(true);
  });

  it('is not felt below what a turn of other work takes', () => {
    expect(strainAfter(0.1, 2.5, 3.6, 3.7)).toBe(false);
  });
});
