import { rmSync } from 'node:fs';
import pg from 'pg';
import { compose } from '../../../src/app/compose/compose.ts';
import type { Config } from '../../../src/app/config/config.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';
import { cheapPasswords } from '../../dsl/cheap-passwords.ts';
import { modelsTemplate } from '../../dsl/models-template.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { appOf, testConfig, type TestApp } from '../../dsl/app.ts';

/** What outlives a process: keys and settings, a data directory, and its databases. */
export interface Site {
  readonly config: Config;
  /** An empty database. */
  newDatabase(): Promise<FreshDatabase>;
  /** A copy of a database in its current state; there may be no connections to it. */
  copyOf(database: FreshDatabase): Promise<FreshDatabase>;
  /** The service on this database; `over` configures another log. */
  start(database: FreshDatabase, over?: Partial<Config>): Promise<TestApp>;
  query(database: FreshDatabase, sql: string): Promise<unknown>;
  rows(database: FreshDatabase, sql: string): Promise<readonly object[]>;
  /** Stops all processes and drops all databases. */
  clear(): Promise<void>;
}

async function rows({ config: server }: FreshDatabase, sql: string): Promise<readonly object[]> {
  const client = new pg.Client(server);
  await client.connect();
  return (await client.query<object>(sql).finally(() => client.end())).rows;
}

export function newSite(over: Partial<Config> = {}): Site {
  const dataDir = scratchFolder('installation');
  const config = testConfig(dataDir, over);
  const apps: TestApp[] = [];
  const databases: FreshDatabase[] = [];
  const keep = (database: FreshDatabase) => {
    databases.push(database);
    return database;
  };
  return {
    config,
    newDatabase: async () => keep(await freshDatabase({ template: await modelsTemplate() })),
    copyOf: async ({ name }) => keep(await freshDatabase({ template: name })),
    async start({ config: database }, settings = {}) {
      const application = await compose(
        { ...config, ...settings },
        { database, log: newLogger('silent'), passwords: cheapPasswords() },
      );
      const app = appOf(application);
      apps.push(app);
      return app;
    },
    query: rows,
    rows,
    async clear() {
      for (const app of apps) await app.close();
      for (const database of databases) await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
