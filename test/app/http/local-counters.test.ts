import { describe, expect, it } from 'vitest';
import { LocalRequestCounters } from '../../../src/app/http/plugins/rate-counters.ts';

const MINUTE_MS = 60_000;

describe('request counts of one process', () => {
  it('keep the count of an active client, however many others there are', async () => {
    const counters = new LocalRequestCounters(10);
    for (let n = 1; n <= 50; n += 1) {
      expect((await counters.count('persistent', MINUTE_MS)).current).toBe(n);
      await counters.count(`passer-by ${n}`, MINUTE_MS);
    }
  });

  it('drop the client that has been idle longest', async () => {
    const counters = new LocalRequestCounters(2);
    for (const client of ['first', 'second', 'first', 'third']) await counters.count(client, MINUTE_MS);
    expect((await counters.count('first', MINUTE_MS)).current).toBe(3);
    expect((await counters.count('second', MINUTE_MS)).current).toBe(1);
  });
});
