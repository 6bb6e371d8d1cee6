import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LocalRequestCounters, SharedRequestCounters } from '../../../src/app/http/plugins/rate-counters.ts';
import { findRedis, startRedis, type TestRedis } from '../../dsl/redis.ts';

const MINUTE_MS = 60_000;
const SHORT_MS = 300;
const MAX_CLIENTS = 100;

if (findRedis()) {
  describe('request counts of several processes', () => {
    let server: TestRedis;
    const connections: Redis[] = [];

    beforeAll(async () => {
      server = await startRedis();
    });
    beforeEach(async () => {
      const redis = new Redis(server.url);
      await redis.flushall();
      redis.disconnect();
    });
    afterAll(async () => {
      for (const connection of connections) connection.disconnect();
      server.thaw();
      await server.stop();
    });

    async function startProcess() {
      const redis = new Redis(server.url, { commandTimeout: 100 });
      redis.on('error', () => undefined);
      connections.push(redis);
      await once(redis, 'ready');
      const counters = new SharedRequestCounters(
        redis,
        new LocalRequestCounters(MAX_CLIENTS),
        pino({ level: 'silent' }),
      );
      const count = (windowMs: number) => counters.count('client', windowMs);
      return { redis, count, next: async () => (await count(MINUTE_MS)).current };
    }

    it('are exact for requests that arrive together', async () => {
      const { next } = await startProcess();
      const counts = await Promise.all(Array.from({ length: 12 }, next));
      expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
    });

    it('are one count', async () => {
      const [first, second] = [await startProcess(), await startProcess()];
      expect(await first.next()).toBe(1);
      expect(await second.next()).toBe(2);
      expect(await first.next()).toBe(3);
    });

    it('go on from the last shared count while Redis hangs', async () => {
      const [first, second] = [await startProcess(), await startProcess()];
      for (const { next } of [first, second, first]) await next();
      server.freeze();
      try {
        expect(await first.next()).toBe(4);
        expect(await first.next()).toBe(5);
      } finally {
        server.thaw();
      }
    });

    it('include what was counted without Redis when it is back', async () => {
      const { redis, next } = await startProcess();
      const ended = once(redis, 'end');
      redis.disconnect();
      await ended;
      for (let n = 1; n <= 3; n += 1) expect(await next()).toBe(n);
      await redis.connect();
      expect(await next()).toBe(4);
    });

    it('go on after Redis has lost its data', async () => {
      const { redis, next } = await startProcess();
      for (let n = 1; n <= 3; n += 1) await next();
      await redis.flushall();
      expect(await next()).toBe(4);
    });

    it('begin again with the next window', async () => {
      const { count } = await startProcess();
      for (let n = 1; n <= 3; n += 1) await count(SHORT_MS);
      await sleep(2 * SHORT_MS);
      expect((await count(SHORT_MS)).current).toBe(1);
    });
  });
} else {
  describe('request counts of several processes', () =>
    it.skip('skipped: no redis-server on this machine', () => undefined));
}
