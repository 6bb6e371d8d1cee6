import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Installation } from '../harness/installation.ts';
import { expectServed, limitsCount, scheduledIn } from '../harness/redis-promises.ts';
import { timeoutMs } from '../harness/rounds.ts';
import { underWrites } from '../harness/under-writes.ts';
import { until } from '../harness/until.ts';

const FROZEN_MS = 6_000;
/** The time in which lost schedules of Redis are restored. */
const SCHEDULED_MS = 90_000;

/** Redis fails. Only jobs and limits may wait for it. */
export function redisFaults(installation: () => Installation): void {
  it(
    'signs in, serves policies, accepts writes and stays ready while Redis is frozen',
    { timeout: timeoutMs() },
    async () => {
      const redis = installation().redis!;
      await underWrites(installation(), async () => {
        redis.freeze();
        try {
          await expectServed(installation(), FROZEN_MS);
        } finally {
          redis.thaw();
        }
      });
      await limitsCount(installation());
    },
  );

  it(
    'signs in, serves policies, accepts writes and stays ready while Redis is down, and uses it again when it is back, empty',
    { timeout: timeoutMs(2) },
    async () => {
      const redis = installation().redis!;
      const scheduled = await scheduledIn(redis);
      await underWrites(installation(), async () => {
        await redis.stop();
        try {
          await expectServed(installation(), FROZEN_MS);
        } finally {
          await redis.start();
        }
      });
      await until(
        'schedules are there again',
        SCHEDULED_MS,
        async () => (await scheduledIn(redis)).length === scheduled.length,
      );
      await limitsCount(installation());
    },
  );

  it('restores its schedules and limits after Redis has lost its data', { timeout: timeoutMs(2) }, async () => {
    const redis = installation().redis!;
    const scheduled = await scheduledIn(redis);
    expect(scheduled).not.toEqual([]);
    await underWrites(installation(), async () => {
      await redis.empty();
      await sleep(500);
    });
    await until(
      'schedules are there again',
      SCHEDULED_MS,
      async () => (await scheduledIn(redis)).length === scheduled.length,
    );
    await limitsCount(installation());
  });

  it('starts without Redis, serves, and uses it when it comes', { timeout: timeoutMs(2) }, async () => {
    const { redis, api, away, nodes } = installation();
    const scheduled = await scheduledIn(redis!);
    const worker = nodes.find(({ role }) => role === 'worker')!;
    await underWrites(installation(), async () => {
      for (const node of [api, worker]) {
        away.add(node);
        await node.kill();
      }
      await redis!.stop();
      api.start();
      worker.start();
      await api.ready();
      await worker.ready();
      away.clear();
      await expectServed(installation(), 1_000);
      await redis!.start();
    });
    await until(
      'schedules are there again',
      SCHEDULED_MS,
      async () => (await scheduledIn(redis!)).length === scheduled.length,
    );
    await limitsCount(installation());
  });
}
