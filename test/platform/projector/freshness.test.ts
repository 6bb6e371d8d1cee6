import { describe, expect, it } from 'vitest';
import { Freshness } from '../../../src/platform/projector/freshness.ts';

const LONG_MS = 60_000;

describe('idle time', () => {
  const { signal } = new AbortController();

  it('ends as soon as a caller waits for a read model', async () => {
    const freshness = new Freshness();
    const leisure = freshness.idle(LONG_MS, signal);
    const waiting = freshness.waitFor(['alerts'], 1n, LONG_MS);
    await leisure;
    freshness.passed(['alerts'], 1n);
    expect(await waiting).toBe(true);
    expect(freshness.isAwaited).toBe(false);
  });

  it('does not begin while a caller waits, or when the process stops', async () => {
    const freshness = new Freshness();
    const waiting = freshness.waitFor(['alerts'], 1n, LONG_MS);
    await freshness.idle(LONG_MS, signal);
    freshness.passed(['alerts'], 1n);
    await waiting;
    const stop = new AbortController();
    const leisure = freshness.idle(LONG_MS, stop.signal);
    stop.abort();
    await leisure;
  });
});

describe('a wait for a read model', () => {
  it('ends if nothing has moved in time', async () => {
    const freshness = new Freshness();
    freshness.passed(['alerts'], 1n);
    expect(await freshness.waitFor(['alerts'], 2n, 20)).toBe(false);
    expect(freshness.isAwaited).toBe(false);
  });

  it('does not count the time during which the whole process was paused', async () => {
    const freshness = new Freshness();
    const waiting = freshness.waitFor(['alerts'], 1n, 50);
    const until = performance.now() + 250;
    while (performance.now() < until);
    setTimeout(() => freshness.passed(['alerts'], 1n), 10);
    expect(await waiting).toBe(true);
  });
});

describe('the progress of another process', () => {
  it('is polled while it is needed, and never moves backwards', async () => {
    const read = new Map([['alerts', 1n]]);
    const freshness = new Freshness({ isNeeded: () => true, readPositions: async () => read });
    freshness.passed(['alerts', 'devices'], 5n);
    read.set('devices', 7n);
    expect(await freshness.waitFor(['devices'], 7n, LONG_MS)).toBe(true);
    expect(freshness.positionOf('alerts')).toBe(5n);
  });

  it('is not learned from a poll that began before all positions were dropped', async () => {
    let answer = (_positions: ReadonlyMap<string, bigint>) => {};
    const polled: (() => void)[] = [];
    const readPositions = () =>
      new Promise<ReadonlyMap<string, bigint>>((resolve) => {
        answer = resolve;
        for (const heard of polled.splice(0)) heard();
      });
    const freshness = new Freshness({ isNeeded: () => true, readPositions });
    const next = () => new Promise<void>((resolve) => polled.push(resolve));
    const begun = next();
    const waiting = freshness.waitFor(['alerts'], 5n, LONG_MS);
    await begun;
    freshness.forget();
    answer(new Map([['alerts', 9n]]));
    await next();
    expect(freshness.positionOf('alerts')).toBeUndefined();
    answer(new Map([['alerts', 5n]]));
    expect(await waiting).toBe(true);
  });

  it('is not polled while this process runs every lane', async () => {
    const readPositions = () => Promise.reject(new Error('nobody needs to know'));
    const freshness = new Freshness({ isNeeded: () => false, readPositions });
    expect(await freshness.waitFor(['alerts'], 1n, 60)).toBe(false);
  });
});
