import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import pg from 'pg';
import pino from 'pino';
import { migrate } from '../src/platform/database/migrate.ts';
import { openDatabase, type Database } from '../src/platform/database/database.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded/postgres.ts';

export interface BenchServer {
  /** A new, migrated database on the one server of this run; durability as in production. */
  database(): Promise<{ config: pg.ClientConfig; database: Database; drop(): Promise<void> }>;
  readonly config: pg.ClientConfig;
  /**
   * Ages a new server artificially: its memory has been touched, and it reuses the files of its write-ahead log, where
   * a new server creates and fills each of them before it writes to it.
   */
  age(): Promise<void>;
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
    age: async () => {
      const client = new pg.Client(config);
      await client.connect();
      await client.query(`create table filler as select repeat(md5(n::text), 25) from generate_series(1, 400000) n`);
      await client.query('checkpoint');
      await client.query('drop table filler');
      await client.end();
    },
    stop: async () => {
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
