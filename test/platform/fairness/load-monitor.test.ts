import { describe, expect, it } from 'vitest';
import { LoadMonitor } from '../../../src/platform/fairness/load-monitor.ts';

const after = (...took: number[]): LoadMonitor => {
  const loadMonitor = new LoadMonitor();
  for (const ms of took) loadMonitor.observe(ms);
  return loadMonitor;
};
const strainAfter = (...took: number[]): boolean => after(...took).load === 'over';

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

  it('is unknown until there are enough measurements to say that it is usual', () => {
    expect(after(0.5, 0.5, 0.5, 0.5).load).toBe('unknown');
    expect(after(0.5, 0.5, 0.5, 0.5, 0.5).load).toBe('usual');
  });

  it('is judged by later measurements once something was done about it, and by the best time of before', () => {
    const loadMonitor = after(0.5, 8, 9, 7);
    loadMonitor.startAnew();
    expect(loadMonitor.load).toBe('unknown');
    for (const ms of [8, 8]) loadMonitor.observe(ms);
    expect(loadMonitor.load).toBe('unknown');
    loadMonitor.observe(8);
    expect(loadMonitor.load).toBe('over');
  });

  it('is judged by the latency that was accepted, until a faster response', () => {
    const loadMonitor = new LoadMonitor();
    let at = 0;
    const observe = (...took: number[]) => took.forEach((ms) => loadMonitor.observe(ms, (at += 400)));
    observe(0.5, 60, 61, 62, 63, 64);
    expect([loadMonitor.load, loadMonitor.isSlowThroughout]).toEqual(['over', false]);
    observe(60, 61, 62, 63);
    expect([loadMonitor.load, loadMonitor.isSlowThroughout]).toEqual(['over', true]);
    loadMonitor.acceptLatency();
    observe(61, 62, 64, 63, 170);
    expect([loadMonitor.load, loadMonitor.isSlowThroughout]).toEqual(['usual', false]);
    observe(190, 190, 190);
    expect(loadMonitor.load).toBe('over');
    observe(1, 60, 60, 60);
    expect(loadMonitor.load).toBe('over');
  });

  it('is not detected below the duration of a tick of other work', () => {
    expect(strainAfter(0.1, 2.5, 3.6, 3.7)).toBe(false);
  });
});
