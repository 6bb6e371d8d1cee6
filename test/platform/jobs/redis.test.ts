import { describe, it } from 'vitest';
import { jobsContract } from '../../contracts/jobs.contract.ts';
import { freshDatabase } from '../../dsl/database.ts';
import { findRedis, startRedis } from '../../dsl/redis.ts';

if (findRedis()) {
  jobsContract('Redis', async () => {
    const { config, drop } = await freshDatabase();
    const redis = await startRedis();
    return {
      config,
      redisUrl: redis.url,
      stop: async () => {
        await redis.stop();
        await drop();
      },
    };
  });
} else {
  describe('jobs on Redis', () => it.skip('skipped: no redis-server on this machine', () => undefined));
}
