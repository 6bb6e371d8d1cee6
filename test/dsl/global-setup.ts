import { mkdtempSync, rmSync } from 'node:fs';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres, type EmbeddedConnection } from '../../src/embedded/postgres.ts';
import { prepareTemplate, TEMPLATE } from './template.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly postgres: EmbeddedConnection;
  }
}

/** One PostgreSQL for a whole run; every test file gets a database of its own in it (`database.ts`). */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync('/tmp/castellan-test-');
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
  const tearDown = async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await makeTemplate(postgres.connection);
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide('postgres', postgres.connection);
  return tearDown;
}

async function makeTemplate(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  await prepareTemplate({ ...connection, database: TEMPLATE });
}
