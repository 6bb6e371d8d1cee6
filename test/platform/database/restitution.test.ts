import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseTimeout } from '../../../src/platform/database/unavailable.ts';
import { TooBusy } from '../../../src/platform/fairness/fair-limiter.ts';
import { FailureError, notFound } from '../../../src/platform/kernel/failure.ts';
import { Restitution } from '../../../src/platform/database/restitution.ts';

const MINUTE = 60_000;

describe('what is taken back when the database is back', () => {
  let restitution: Restitution;
  let isAway: boolean;
  let done: string[];
  let asked: number;
  beforeEach(() => {
    vi.useFakeTimers();
    [restitution, isAway, done, asked] = [new Restitution(), true, [], 0];
  });
  afterEach(() => vi.useRealTimers());

  const owe = (key: string, withinMs = MINUTE) =>
    restitution.whenBack(key, withinMs, async () => {
      asked += 1;
      if (isAway) throw new DatabaseTimeout(1);
      done.push(key);
    });

  it('is taken back at once if the database is there, and once', async () => {
    isAway = false;
    await owe('a');
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(done).toEqual(['a']);
  });

  it('is taken back once the database is there, all of it, and once', async () => {
    for (const key of ['a', 'b', 'a']) await owe(key);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(done).toEqual([]);
    isAway = false;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(done).toEqual(['a', 'b', 'a']);
  });

  it('does not wait for what is owed to somebody who has too many requests at once', async () => {
    const crowded = () => Promise.reject(new TooBusy('reads', { isOwnShare: true }));
    for (const key of ['a crowd', 'of theirs']) await restitution.whenBack(key, MINUTE, crowded);
    for (const key of ['a', 'b']) await owe(key);
    isAway = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(done).toEqual(['a', 'b']);
  });

  it('is taken back before the process ends, unless its time is over', async () => {
    for (const key of ['a', 'b']) await owe(key);
    let isSettled = false;
    const settled = restitution.settled(5_000).then(() => (isSettled = true));
    await vi.advanceTimersByTimeAsync(4_000);
    expect([isSettled, done]).toEqual([false, []]);
    isAway = false;
    await vi.advanceTimersByTimeAsync(500);
    await settled;
    expect(done.toSorted()).toEqual(expect.arrayContaining(['a', 'b']));
    isAway = true;
    await owe('c');
    const given = restitution.settled(5_000);
    await vi.advanceTimersByTimeAsync(6_000);
    await given;
    await new Restitution().settled(5_000);
  });

  it('asks an absent database once a second, however much it owes', async () => {
    for (let n = 0; n < 1_000; n += 1) await owe(`token ${n}`);
    const before = asked;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked - before).toBeLessThanOrEqual(10);
  });

  it('is taken back first for whoever comes again, who is told to wait if that still fails', async () => {
    await owe('a');
    await expect(restitution.first('a')).rejects.toThrow(DatabaseTimeout);
    await restitution.first('b');
    isAway = false;
    await restitution.first('a');
    expect(done).toEqual(['a']);
  });

  it('is taken back after a full queue, too', async () => {
    let isFull = true;
    await restitution.whenBack('a', MINUTE, async () => {
      if (isFull) throw new TooBusy('the database');
      done.push('a');
    });
    isFull = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(done).toEqual(['a']);
  });

  it('expires, and is forgotten after a refusal', async () => {
    await owe('a', 5_000);
    await vi.advanceTimersByTimeAsync(10_000);
    isAway = false;
    await vi.advanceTimersByTimeAsync(MINUTE);
    await restitution.first('a');
    expect(done).toEqual([]);
    await restitution.whenBack('b', MINUTE, () => Promise.reject(new FailureError(notFound())));
    await restitution.first('b');
  });

  it('has a bound', async () => {
    for (let n = 0; n < 20_001; n += 1) await owe(`token ${n}`);
    isAway = false;
    await restitution.first('token 19999');
    await restitution.first('token 20000');
    expect(done).toEqual(['token 19999']);
  });
});
