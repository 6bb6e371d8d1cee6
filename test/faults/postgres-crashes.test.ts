import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { PostgresCluster } from './harness/postgres-cluster.ts';
import { missing } from './harness/programs.ts';
import { RedisServer } from './harness/redis.ts';
import { patience, rounds } from './harness/rounds.ts';
import { sharedInstallation } from './harness/shared-installation.ts';
import { underWrites } from './harness/under-writes.ts';
import { until } from './harness/until.ts';

const lacking = missing({ postgres: true, redis: true });
const CRASHES = rounds(6);
/** How long a frozen server says nothing: longer than a probe may take, and than the service waits for a connection. */
const FROZEN_MS = 8_000;

describe.skipIf(lacking)(`PostgreSQL fails under a running service${lacking}`, () => {
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
  const installation = sharedInstallation(() => ({ cluster, redis }));

  it('loses nothing when a restart disconnects everybody', { timeout: patience() }, async () => {
    await underWrites(installation(), () => cluster.restart('fast'));
  });

  it('loses nothing when it is stopped at once and recovers at its start', { timeout: patience() }, async () => {
    await underWrites(installation(), () => cluster.restart('immediate'));
  });

  it(`loses nothing when one of its processes is killed and it recovers by itself, ${CRASHES} times`, { timeout: patience(CRASHES) }, async () => {
    await underWrites(
      installation(),
      async (round) => {
        const backends = await cluster.backends();
        cluster.killBackend(backends[round % backends.length]!.pid);
        await until('PostgreSQL has recovered', 20_000, async () => (await sleep(200), cluster.isReady()));
      },
      { rounds: CRASHES },
    );
  });

  it('loses nothing, answers probes and recovers when it is frozen and resumed', { timeout: patience() }, async () => {
    await underWrites(installation(), async () => {
      cluster.freeze();
      await sleep(FROZEN_MS);
      cluster.thaw();
    });
  });
});
