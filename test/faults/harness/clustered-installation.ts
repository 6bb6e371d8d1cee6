import { afterAll, beforeAll } from 'vitest';
import type { Installation } from './installation.ts';
import { PostgresCluster } from './postgres-cluster.ts';
import { RedisServer } from './redis.ts';
import { sharedInstallation } from './shared-installation.ts';

/** Four processes on a PostgreSQL and a Redis of their own, which go through one fault after the other. */
export function clusteredInstallation(): () => Installation {
  let cluster: PostgresCluster;
  let redis: RedisServer;
  beforeAll(async () => {
    cluster = await PostgresCluster.create();
    redis = await RedisServer.reserve();
    await redis.start();
  }, 60_000);
  afterAll(async () => {
    await redis.destroy();
    await cluster.destroy();
  });
  return sharedInstallation(async () => {
    await Promise.all([cluster.revive(), redis.revive()]);
    return { cluster, redis };
  });
}
