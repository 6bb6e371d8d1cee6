import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { PostgresCluster } from './harness/postgres-cluster.ts';
import { missing } from './harness/programs.ts';
import { timeoutMs } from './harness/rounds.ts';
import { sharedInstallation } from './harness/shared-installation.ts';
import { mountFault, SmallDisk } from './harness/small-disk.ts';
import { underWrites } from './harness/under-writes.ts';
import { until } from './harness/until.ts';

const lacking = missing({ postgres: true }) || mountFault;
const MEGABYTES = 250;
const FULL_MS = 5_000;

describe.skipIf(lacking)(`the database's disk is full${lacking}`, () => {
  let disk: SmallDisk;
  let cluster: PostgresCluster;
  beforeAll(async () => {
    disk = SmallDisk.mount(MEGABYTES);
    cluster = await PostgresCluster.create({
      folder: disk.folder,
      initdb: ['--wal-segsize=1'],
      settings: { min_wal_size: "'2MB'", max_wal_size: "'8MB'", wal_keep_size: 0, wal_recycle: 'off' },
    });
  }, 60_000);
  afterAll(async () => {
    await cluster?.destroy();
    disk?.unmount();
  });
  const installation = sharedInstallation(() => ({
    cluster,
    nodes: [
      { name: 'api', role: 'api' as const },
      { name: 'projector', role: 'projector' as const },
    ],
  }));

  it(
    'loses nothing, responds as unavailable, and continues when there is space again',
    { timeout: timeoutMs(2) },
    async () => {
      const { journal } = installation();
      await underWrites(installation(), async () => {
        disk.fill();
        await until('the full disk is felt', 30_000, () => journal.doubts > 0);
        await sleep(FULL_MS);
        disk.free();
        // It ends itself when its log cannot be written; its supervisor restarts it.
        if (
          !cluster.isRunning ||
          !(await until('PostgreSQL works', 10_000, () => cluster.isReady()).catch(() => false))
        )
          await cluster.restart('immediate');
        await until('PostgreSQL works', 20_000, () => cluster.isReady());
      });
    },
  );
});
