import { describe, expect, it } from 'vitest';
import { LocalRequestCounters } from '../../../src/app/http/plugins/rate-counters.ts';

const MINUTE_MS = 60_000;

describe('requests counted by one process', () => {
  it('keeps the count of a client that goes on, however many others come by', async () => {
    const counters = new LocalRequestCounters(10);
    for (let n = 1; n <= 50; n += 1) {
      expect((await counters.count('persistent', MINUTE_MS)).current).toBe(n);
      await counters.count(`passer-by ${n}`, MINUTE_MS);
    }
  });

  it('forgets the client that has made no request for longest', async () => {
    const counters = new LocalRequestCounters(2);
    for (const client of ['first', 'second', 'first', 'third']) await counters.count(client, MINUTE_MS);
    expect((await counters.count('first', MINUTE_MS)).current).toBe(3);
    expect((await counters.count('second', MINUTE_MS)).current).toBe(1);
  });
});
