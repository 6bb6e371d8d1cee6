import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStandIn, type StandIn } from '../fixtures/eventstoredb/stand-in.ts';
import { Installation } from './harness/installation.ts';
import { expectLogDoubted } from './harness/log-doubt.ts';
import { olderLog } from './harness/older-log.ts';
import { PostgresCluster } from './harness/postgres-cluster.ts';
import { missing } from './harness/programs.ts';
import { timeoutMs } from './harness/rounds.ts';
import { until } from './harness/until.ts';
import { Writers } from './harness/writers.ts';

const lacking = missing({ postgres: true });
const WRITES = 30;
/** Of the records of the log. */
const LOST = 20;
const QUIET_MS = 1_500;
const AFTERWARDS_MS = 3_000;

/** The content of read models, and their checkpoints. */
const STANDING = `
  select (select json_agg(json_build_array(name, version, generation, position) order by name, version, generation) from cursors where kind = 'model') as checkpoints,
         (select count(*) from employees) as employees, (select count(*) from alerts) as alerts, (select count(*) from observations) as observations,
         (select count(*) from audit_log) as audit_log, (select count(*) from policies) as policies`;

describe.skipIf(lacking)(`EventStoreDB is restored from an older backup under a running service${lacking}`, () => {
  let cluster: PostgresCluster;
  let node: StandIn;
  let installation: Installation;
  beforeAll(async () => {
    cluster = await PostgresCluster.create();
    node = await startStandIn();
    const nodes = [
      { name: 'api', role: 'api' },
      { name: 'projector', role: 'projector' },
    ] as const;
    installation = await Installation.start({ cluster, nodes, env: { EVENTSTORE_URL: node.connectionString } });
  }, 120_000);
  afterAll(async () => {
    await installation?.stop();
    await node.stop();
    await cluster.destroy();
  });

  it('stops writing read models and reports it', { timeout: timeoutMs() }, async () => {
    const { journal, database } = installation;
    const writers = new Writers(journal, installation.written);
    await until('writes are acknowledged', 30_000, () => journal.size >= WRITES).finally(() => writers.stop());
    await sleep(QUIET_MS);
    const [before] = await cluster.query(STANDING, database);

    await node.stop();
    node = await startStandIn({ port: node.port, log: olderLog(node.log, node.log.all.length - LOST) });
    const more = new Writers(journal, installation.written);
    await sleep(AFTERWARDS_MS);
    await more.stop();

    await expectLogDoubted(installation);
    expect(installation.exits).toEqual([]);
    expect((await cluster.query(STANDING, database))[0]).toEqual(before);
  });
});
