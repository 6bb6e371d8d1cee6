import { describe, expect, it } from 'vitest';
import { CAME_TOO_LATE, ServerClock } from '../../../src/platform/database/server-clock.ts';

const HOUR = 3_600_000;

/** How far a deadline in five seconds is from now, by this server's time, in seconds. */
const ahead = (clock: ServerClock, serverNow: number) =>
  Math.round((Number(clock.deadlineIn(5_000)) - serverNow) / 1_000);

describe("a database server's clock", () => {
  it('is unknown at first, and then its own, whatever the time is here', () => {
    const clock = new ServerClock();
    expect(clock.deadlineIn(5_000)).toBeNull();
    const there = Date.now() - HOUR;
    clock.heard(there, performance.now());
    expect(ahead(clock, there)).toBe(5);
    expect(clock.deadlineIn(0)).toBeNull();
  });

  it('is not known better from a response that was late', () => {
    const clock = new ServerClock();
    const there = Date.now();
    clock.heard(there - 6_000, performance.now() - 6_000);
    expect(clock.deadlineIn(5_000)).toBeNull();
    clock.heard(there, performance.now());
    clock.heard(there - HOUR, performance.now() - 6_000);
    expect(ahead(clock, there)).toBe(5);
  });

  it('is followed when it is set, forward or back', () => {
    const clock = new ServerClock();
    const there = Date.now();
    for (const set of [there, there + HOUR, there - HOUR]) {
      clock.heard(set, performance.now());
      expect(ahead(clock, set)).toBe(5);
    }
  });

  it('is learned anew once a statement came too late', () => {
    const clock = new ServerClock();
    clock.heard(Date.now(), performance.now());
    expect(() => clock.failed(new Error('away'))).toThrow('away');
    expect(clock.deadlineIn(5_000)).not.toBeNull();
    expect(() => clock.failed(Object.assign(new Error('late'), { code: CAME_TOO_LATE }))).toThrow('late');
    expect(clock.deadlineIn(5_000)).toBeNull();
  });
});
