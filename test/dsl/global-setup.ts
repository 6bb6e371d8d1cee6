import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres, type EmbeddedConnection } from '../../src/platform/embedded/postgres.ts';
import { scratchFolder } from './scratch.ts';
import { prepareTemplate, TEMPLATE } from './template.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly postgres: EmbeddedConnection;
  }
}

interface Server {
  readonly connection: EmbeddedConnection;
  stop(): Promise<void>;
}

/** Each project of a run loads this module separately, in one process. */
const shared = globalThis as { castellanTestServer?: { readonly server: Promise<Server>; users: number } | undefined };

/** One PostgreSQL for a whole run; every test file gets its own database in it (`database.ts`). */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const used = (shared.castellanTestServer ??= { server: startServer(), users: 0 });
  used.users += 1;
  project.provide('postgres', (await used.server).connection);
  return async () => {
    used.users -= 1;
    if (used.users > 0) return;
    shared.castellanTestServer = undefined;
    await (await used.server).stop();
  };
}

async function startServer(): Promise<Server> {
  const dataDir = scratchFolder('test');
  const keys = path.join(dataDir, 'keys');
  mkdirSync(keys, { recursive: true });
  // Workers start after this, with this environment.
  process.env['TEST_KEYS_FOLDER'] = keys;
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
  const stop = async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await makeTemplate(postgres.connection);
  } catch (error) {
    await stop();
    throw error;
  }
  return { connection: postgres.connection, stop };
}

async function makeTemplate(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  await prepareTemplate({ ...connection, database: TEMPLATE });
}
