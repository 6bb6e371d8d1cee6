import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../fixtures/eventstoredb/restorable-node.ts';
import { Installation } from '../faults/harness/installation.ts';
import { expectLogDoubted } from '../faults/harness/log-doubt.ts';
import { PostgresCluster } from '../faults/harness/postgres-cluster.ts';
import { missing } from '../faults/harness/programs.ts';
import { until } from '../faults/harness/until.ts';
import { Writers } from '../faults/harness/writers.ts';

const lacking = missing({ postgres: true });
/** Acknowledged before the copy, and again after it. */
const WRITES = 15;
const QUIET_MS = 1_500;
const AFTERWARDS_MS = 3_000;

/** The content of read models, and their checkpoints. */
const STANDING = `
  select (select json_agg(json_build_array(name, version, generation, position) order by name, version, generation) from cursors where kind = 'model') as checkpoints,
         (select count(*) from employees) as employees, (select count(*) from alerts) as alerts, (select count(*) from observations) as observations,
         (select count(*) from audit_log) as audit_log, (select count(*) from policies) as policies`;

describe.skipIf(lacking)(
  `EventStoreDB (${restorableNodes}) is restored from an older backup under a running service${lacking}`,
  () => {
    let cluster: PostgresCluster;
    let node: RestorableNode;
    let installation: Installation;
    beforeAll(async () => {
      cluster = await PostgresCluster.create();
      node = await startRestorableNode();
      const nodes = [
        { name: 'api', role: 'api' },
        { name: 'projector', role: 'projector' },
      ] as const;
      installation = await Installation.start({ cluster, nodes, env: { EVENTSTORE_URL: node.connectionString } });
    }, RESTORE_TIMEOUT_MS);
    afterAll(async () => {
      await installation?.stop();
      await node?.close();
      await cluster.destroy();
    });

    it('stops writing read models and reports it', { timeout: RESTORE_TIMEOUT_MS }, async () => {
      const { journal, database } = installation;
      const writers = new Writers(journal, installation.written);
      await until('writes are acknowledged', 30_000, () => journal.size >= WRITES);
      const older = await node.snapshot();
      const held = journal.size;
      await until('more writes are acknowledged', 30_000, () => journal.size >= held + WRITES).finally(() =>
        writers.stop(),
      );
      await sleep(QUIET_MS);
      const [before] = await cluster.query(STANDING, database);

      await node.restore(older);
      const more = new Writers(journal, installation.written);
      await sleep(AFTERWARDS_MS);
      await more.stop();

      await expectLogDoubted(installation);
      expect(installation.exits).toEqual([]);
      expect((await cluster.query(STANDING, database))[0]).toEqual(before);
    });
  },
);
