import { describe, expect, it } from 'vitest';
import { LoadMonitor } from '../../../src/platform/fairness/load-monitor.ts';

const strainAfter = (...took: number[]): boolean => {
  const loadMonitor = new LoadMonitor();
  for (const ms of took) loadMonitor.observe(ms);
  return loadMonitor.isOverloaded;
};

describe('load', () => {
  it('is not detected before any measurement, nor from a single slow response', () => {
    expect(strainAfter()).toBe(false);
    expect(strainAfter(0.5, 0.5, 40, 0.5, 300, 0.6)).toBe(false);
  });

  it('is detected when responses take several times as long as the best one, and ends when they no longer do', () => {
    expect(strainAfter(0.5, 8, 9, 7)).toBe(true);
    expect(strainAfter(0.5, 8, 9, 7, ...Array.from({ length: 10 }, () => 0.6))).toBe(false);
  });

  it('is judged by the usual latency: a distant database is no load', () => {
    expect(strainAfter(...Array.from({ length: 10 }, (_, n) => 9 + (n % 3)))).toBe(false);
    expect(strainAfter(9, 30, 31, 32)).toBe(true);
  });

  it('is not detected below the duration of a tick of other work', () => {
    expect(strainAfter(0.1, 2.5, 3.6, 3.7)).toBe(false);
  });
});
