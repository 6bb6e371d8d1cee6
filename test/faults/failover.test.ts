import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Installation } from './harness/installation.ts';
import { expectIntact, expectNoGhosts } from './harness/intact.ts';
import { expectLogDoubted } from './harness/log-doubt.ts';
import { PostgresCluster } from './harness/postgres-cluster.ts';
import { Prober } from './harness/prober.ts';
import { missing } from './harness/programs.ts';
import { timeoutMs } from './harness/rounds.ts';
import { until } from './harness/until.ts';
import { Writers } from './harness/writers.ts';

const lacking = missing({ postgres: true });
const WRITES = 30;
const AFTERWARDS_MS = 3_000;
const NODES = [
  { name: 'api', role: 'api' },
  { name: 'projector', role: 'projector' },
] as const;

describe.skipIf(lacking)(`PostgreSQL fails over to a replica${lacking}`, () => {
  let primary: PostgresCluster;
  let replica: PostgresCluster;
  let installation: Installation;

  beforeEach(async () => {
    primary = await PostgresCluster.create();
    installation = await Installation.start({ cluster: primary, nodes: NODES });
    replica = await primary.replica();
  }, 120_000);
  afterEach(async () => {
    await installation?.stop();
    await replica?.destroy();
    await primary?.destroy();
  });

  async function write(count: number): Promise<void> {
    const { journal } = installation;
    const before = journal.size;
    const writers = new Writers(journal, installation.written);
    await until('writes are acknowledged', 30_000, () => journal.size >= before + count).finally(() => writers.stop());
  }

  /** The primary is gone, and its address leads to the replica. */
  async function failOver(): Promise<void> {
    await primary.crash();
    await replica.promote();
    installation.proxy.pointAt(replica.port);
    installation.proxy.reset();
    installation.cluster = replica;
  }

  it('continues without a loss if the replica had everything', { timeout: timeoutMs(2) }, async () => {
    // An acknowledged write is on the replica's disk, too: the setting for a failover without losses.
    await primary.query(`alter system set synchronous_standby_names = '*'`);
    await primary.query('select pg_reload_conf()');
    await write(WRITES);
    await failOver();
    await write(WRITES);
    await expectIntact(installation);
  });

  it(
    'stops writing read models and reports it if the replica lagged, so that the log moved backwards',
    { timeout: timeoutMs(2) },
    async () => {
      await write(WRITES);
      await sleep(500);
      await replica.query(`alter system set primary_conninfo = ''`);
      await replica.query('select pg_reload_conf()');
      await until(
        'the replica has stopped following',
        10_000,
        async () => (await replica.query('select 1 from pg_stat_wal_receiver')).length === 0,
      );
      await write(WRITES);
      await sleep(500);
      const prober = new Prober(() => installation.running);
      await failOver();
      // Some of these get a success, some a refusal: in both cases only correct data may be shown.
      const writers = new Writers(installation.journal, installation.written);
      await sleep(AFTERWARDS_MS);
      await writers.stop();
      await expectLogDoubted(installation);
      await expectNoGhosts(installation);
      expect(await prober.stop()).toEqual([]);
    },
  );
});
