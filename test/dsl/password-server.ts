import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/embedded/postgres.ts';
import { scratchFolder } from './scratch.ts';

export interface PasswordServer {
  /** As the superuser, in this database. */
  admin(database: string, sql: string): Promise<Record<string, unknown>[]>;
  /** The value of DATABASE_URL that an operator would set. */
  url(user: string, database: string): string;
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** The password of every user that a test creates. */
export const USER_PASSWORD = 'p@ss/w#rd';

/** A PostgreSQL that requires passwords, except from its superuser. */
export async function startPasswordServer(): Promise<PasswordServer> {
  const dataDir = scratchFolder('passwords');
  const { connection, stop } = await startEmbeddedPostgres({ dataDir, durable: false });
  const admin = async (database: string, sql: string) => {
    const client = new pg.Client({ ...connection, database });
    await client.connect();
    try {
      const answered = await client.query<Record<string, unknown>>(sql);
      return Array.isArray(answered) ? [] : answered.rows;
    } finally {
      await client.end();
    }
  };
  writeFileSync(join(dataDir, 'cluster', 'pg_hba.conf'), 'local all postgres trust\nlocal all all scram-sha-256\n');
  await admin('postgres', 'select pg_reload_conf()');
  return {
    admin,
    url: (user, database) =>
      `postgresql://${user}:${encodeURIComponent(USER_PASSWORD)}@/${database}?host=${encodeURIComponent(connection.host)}&port=${connection.port}`,
    host: connection.host,
    port: connection.port,
    stop: async () => {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
