import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import pg from 'pg';
import pino from 'pino';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';

export interface BenchServer {
  /** A new, migrated database on the one server of this run; durability as in production. */
  database(): Promise<{ config: pg.ClientConfig; database: Database; drop(): Promise<void> }>;
  readonly config: pg.ClientConfig;
  stop(): Promise<void>;
}

export const log = pino({ level: 'silent' });

export async function startBenchServer(): Promise<BenchServer> {
  const dataDir = mkdtempSync('/var/tmp/castellan-bench-');
  const postgres = await startEmbeddedPostgres({ dataDir });
  const config = { ...postgres.connection };
  const administer = async (sql: string) => {
    const client = new pg.Client({ ...config, database: 'postgres' });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  return {
    config,
    async database() {
      const name = `bench_${randomBytes(6).toString('hex')}`;
      await administer(`create database ${name}`);
      const own = { ...config, database: name };
      await migrate(own);
      const database = openDatabase(own, log);
      return {
        config: own,
        database,
        drop: async () => {
          await database.close();
          await administer(`drop database ${name} with (force)`);
        },
      };
    },
    stop: async () => {
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
