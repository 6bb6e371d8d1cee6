import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LONGEST_RETRY_MS, nextAttemptAt } from '../../../src/contexts/notifications/domain/retry-schedule.ts';
import { NOW } from '../../dsl/given.ts';

const HOUR = 3_600_000;

/** The times of all attempts at a receiver that accepts from `upAt` on, in milliseconds since the first one. */
function attemptsUntil(upAt: number, deliveryId = randomUUID(), tookMs = 0): { at: number[]; isDelivered: boolean } {
  const at: number[] = [];
  for (let now: number | undefined = NOW, attempt = 1; now !== undefined; attempt += 1) {
    at.push(now - NOW);
    if (now - NOW >= upAt) return { at, isDelivered: true };
    now = nextAttemptAt({ deliveryId, attempt, since: NOW, now: now + tookMs });
  }
  return { at, isDelivered: false };
}

describe('the schedule of attempts (OP-184)', () => {
  it('is at once, 5 s, 5 min, 30 min, 2 h, 5 h, then about every 8 h, each up to a tenth longer', () => {
    // The next one may be the last, which waits until three days have passed.
    const expected = [5_000, 300_000, 1_800_000, 2 * HOUR, 5 * HOUR, ...Array<number>(6).fill(8 * HOUR)];
    for (let times = 0; times < 2_000; times += 1) {
      const { at } = attemptsUntil(Infinity);
      const waits = at.slice(1).map((time, n) => time - at[n]!);
      const wrong = expected.filter((wait, n) => !(waits[n]! >= wait && waits[n]! <= wait * 1.1 + 1));
      expect(wrong).toEqual([]);
    }
  });

  it('delivers to every receiver that was down for three days', () => {
    for (let n = 0; n < 500; n += 1) {
      const { isDelivered, at } = attemptsUntil(LONGEST_RETRY_MS, randomUUID(), n * 20);
      expect([isDelivered, at.length < 20]).toEqual([true, true]);
    }
  });

  it('ends soon after three days', () => {
    for (let n = 0; n < 500; n += 1) {
      const { at, isDelivered } = attemptsUntil(Infinity, randomUUID(), n * 20);
      expect(isDelivered).toBe(false);
      expect(at.at(-1)).toBeGreaterThanOrEqual(LONGEST_RETRY_MS);
      expect(at.at(-1)).toBeLessThan(LONGEST_RETRY_MS + 9 * HOUR);
    }
  });

  it('spreads messages that failed together, and is the same when it is decided again', () => {
    const next = (deliveryId: string) => nextAttemptAt({ deliveryId, attempt: 3, since: NOW, now: NOW })!;
    const ids = Array.from({ length: 200 }, () => randomUUID());
    const times = new Set(ids.map(next));
    expect(times.size).toBeGreaterThan(190);
    expect(new Set(ids.map(next))).toEqual(times);
  });

  it('waits as long as the receiver asks, up to eight hours', () => {
    const asked = (retryAfterMs: number) =>
      nextAttemptAt({ deliveryId: randomUUID(), attempt: 1, since: NOW, now: NOW, retryAfterMs })! - NOW;
    expect(asked(120_000)).toBe(120_000);
    expect(asked(100 * HOUR)).toBe(8 * HOUR);
    expect(asked(1)).toBeGreaterThanOrEqual(5_000);
  });
});
