import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { killOneBackend } from '../faults/groups/postgres-faults.ts';
import { expectIntact } from '../faults/harness/intact.ts';
import { PostgresCluster } from '../faults/harness/postgres-cluster.ts';
import { missing } from '../faults/harness/programs.ts';
import { timeoutMs, rounds } from '../faults/harness/rounds.ts';
import { sharedInstallation } from '../faults/harness/shared-installation.ts';
import { until } from '../faults/harness/until.ts';
import { Writers } from '../faults/harness/writers.ts';

const lacking = missing({ postgres: true });
const WRITES_A_ROUND = 15;
/**
 * Milliseconds after the last write: some crashes hit a page that is being committed, most an idle projector that
 * believes it is done.
 */
const MOMENTS_MS = [0, 30, 80, 150, 300, 500, 700, 900];
const CRASHES = rounds(MOMENTS_MS.length);

/**
 * Projections commit without waiting for the disk, so a crash undoes some of their commits with their checkpoints. A
 * projector that has cached a later checkpoint must not write it back. While there are writes, each of their commits
 * flushes those of projections to the disk too: a crash undoes only the last ones before a pause.
 */
describe.skipIf(lacking)(`PostgreSQL crashes alone${lacking}`, () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.create();
  }, 60_000);
  afterAll(() => cluster.destroy());
  const installation = sharedInstallation(() => ({
    cluster,
    nodes: [
      { name: 'api', role: 'api' as const },
      { name: 'projector', role: 'projector' as const },
    ],
  }));

  it(`folds undone events again after a crash, ${CRASHES} times`, { timeout: timeoutMs(CRASHES) }, async () => {
    const { journal, written } = installation();
    for (let round = 0; round < CRASHES; round += 1) {
      const writers = new Writers(journal, written);
      const before = journal.size;
      await until('writes are acknowledged', 30_000, () => journal.size >= before + WRITES_A_ROUND).finally(() =>
        writers.stop(),
      );
      await sleep(MOMENTS_MS[round % MOMENTS_MS.length]);
      await (round % 2 === 0 ? killOneBackend(installation(), round) : crash(cluster));
      await until('PostgreSQL has recovered', 20_000, () => cluster.isReady());
    }
    await expectIntact(installation());
  });
});

async function crash(cluster: PostgresCluster): Promise<void> {
  await cluster.crash();
  await cluster.start();
}
