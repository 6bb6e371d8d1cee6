import { afterAll, beforeAll, describe } from 'vitest';
import { linkFaults } from './groups/link-faults.ts';
import { postgresFaults } from './groups/postgres-faults.ts';
import { processFaults } from './groups/process-faults.ts';
import { redisFaults } from './groups/redis-faults.ts';
import { PostgresCluster } from './harness/postgres-cluster.ts';
import { missing } from './harness/programs.ts';
import { RedisServer } from './harness/redis.ts';
import { sharedInstallation } from './harness/shared-installation.ts';

const lacking = missing({ postgres: true, redis: true });

/** Four processes on PostgreSQL and Redis, which go through one fault after the other. */
describe.skipIf(lacking)(`a service in four processes${lacking}`, () => {
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
  const installation = sharedInstallation(async () => {
    await Promise.all([cluster.revive(), redis.revive()]);
    return { cluster, redis };
  });

  describe('processes', () => processFaults(installation));
  describe('PostgreSQL', () => postgresFaults(installation));
  describe('the link to PostgreSQL', () => linkFaults(installation));
  describe('Redis', () => redisFaults(installation));
});
