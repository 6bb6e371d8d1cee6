import { randomUUID } from 'node:crypto';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { restoreAcceptLog, restoreStatus } from '../../../src/app/cli/restore.ts';
import { compose } from '../../../src/app/compose/compose.ts';
import type { Config } from '../../../src/app/config/config.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { appOf, testConfig, type TestApp } from '../../dsl/app.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import { USER_PASSWORD } from '../../dsl/password-server.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { startSystemPostgres, type SystemPostgres } from '../../dsl/system-postgres.ts';
import { findSystemPostgres } from '../../dsl/system-program.ts';
import {
  RESTORE_TIMEOUT_MS,
  restorableNodes,
  startRestorableNode,
  type RestorableNode,
} from '../../fixtures/eventstoredb/restorable-node.ts';
import { employ, expectSound, inhabit, type Inhabited } from './inhabitants.ts';

const silent = () => undefined;
const headsIn = ({ dataDir }: Config): string => join(dataDir, 'audit-heads.jsonl');

/** Keeps creating employees, one after the other, until it is stopped; `employees` holds the acknowledged ones. */
function busy(app: TestApp, { tenant }: Inhabited) {
  const employees: string[] = [];
  let isOver = false;
  const done = (async () => {
    while (!isOver) await employ(app, { tenant, employees }, `${randomUUID()}@acme.example`);
  })();
  return {
    employees,
    async acknowledged(count: number): Promise<void> {
      while (employees.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    async stop(): Promise<void> {
      isOver = true;
      await done;
    },
  };
}

describe.skipIf(!findSystemPostgres())(
  `a backup of a running installation${findSystemPostgres() ? '' : ' (skipped: postgresql of Debian is not installed)'}`,
  () => {
    const closers: (() => Promise<unknown> | void)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });
    const newCluster = async (): Promise<SystemPostgres> => {
      const cluster = await startSystemPostgres();
      closers.push(() => cluster.stop());
      await cluster.admin('postgres', `create role castellan_owner login createrole password '${USER_PASSWORD}'`);
      await cluster.admin('postgres', 'create database castellan owner castellan_owner');
      return cluster;
    };
    const newDataDir = (): string => {
      const folder = scratchFolder('running-backup');
      closers.push(() => rmSync(folder, { recursive: true, force: true }));
      return folder;
    };
    const start = async (config: Config): Promise<TestApp> => {
      const app = appOf(await compose(config, { log: newLogger('silent'), passwords: cheapPasswords() }));
      closers.push(() => app.close());
      return app;
    };
    /** The dump in a new cluster, restored by its owner. */
    const restored = async (dump: string): Promise<string> => {
      const cluster = await newCluster();
      cluster.restore('castellan', `set role castellan_owner;\n${dump}`, { onError: 'go-on' });
      return cluster.url('castellan_owner', 'castellan');
    };

    it(
      `of the log (${restorableNodes}) before PostgreSQL holds what was acknowledged before it began`,
      { timeout: RESTORE_TIMEOUT_MS },
      async () => {
        const [node, cluster]: [RestorableNode, SystemPostgres] = [await startRestorableNode(), await newCluster()];
        closers.push(() => node.close());
        const config = testConfig(newDataDir(), {
          databaseUrl: cluster.url('castellan_owner', 'castellan'),
          eventStoreUrl: node.connectionString,
        });
        const app = await start(config);
        const inhabited = await inhabit(app);
        const writer = busy(app, inhabited);
        await writer.acknowledged(5);
        const held = [...writer.employees];
        const log = await node.snapshot();
        // Copying takes a server some time, in which the writer goes on.
        const copied = writer.employees.length;
        await writer.acknowledged(copied + 5);
        const dump = cluster.dump('castellan');
        await writer.acknowledged(copied + 10);
        await writer.stop();
        await app.close();

        const other = await startRestorableNode(log);
        closers.push(() => other.close());
        const there = {
          ...config,
          dataDir: newDataDir(),
          databaseUrl: await restored(dump),
          eventStoreUrl: other.connectionString,
        };
        const shown = await start(there);
        expect((await restoreStatus(shown.services, silent)).mismatch?.kind).toBe('log_older');
        await restoreAcceptLog(shown.services, { yes: true, reason: 'moved to another machine' }, silent);
        await shown.close();
        const again = await start(there);
        await expectSound(again, inhabited, ['kim@acme.example', ...held]);
      },
    );

    it(
      'of PostgreSQL alone, which holds the log too, holds what was acknowledged before it began',
      { timeout: 180_000 },
      async () => {
        const cluster = await newCluster();
        const config = testConfig(newDataDir(), { databaseUrl: cluster.url('castellan_owner', 'castellan') });
        const first = await start(config);
        const inhabited = await inhabit(first);
        // Whoever stops seals: the file holds heads.
        await first.close();
        const app = await start(config);
        const there = { ...config, dataDir: newDataDir() };
        // First of all: heads that were sealed after the dump would be missing in it.
        copyFileSync(headsIn(config), headsIn(there));
        const writer = busy(app, inhabited);
        await writer.acknowledged(5);
        const held = [...writer.employees];
        const dump = cluster.dump('castellan');
        await writer.acknowledged(held.length + 5);
        await writer.stop();
        await app.close();
        const again = await start({ ...there, databaseUrl: await restored(dump) });
        expect((await restoreStatus(again.services, silent)).mismatch).toBeUndefined();
        // As soon as the read models have caught up.
        const health = async () => (await again.anonymous.get('/health')).body;
        await expect.poll(health, { timeout: 20_000 }).toMatchObject({ status: 'healthy' });
        await expectSound(again, inhabited, ['kim@acme.example', ...held]);
      },
    );
  },
);
