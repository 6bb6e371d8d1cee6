import { readdir, readFile } from 'node:fs/promises';
import { Kysely, Migrator, PostgresDialect, sql, type Migration } from 'kysely';
import pg from 'pg';

const FOLDER = new URL('./migrations/', import.meta.url);

/** The plain .sql files beside this one, applied once each and in order; of two processes at a time one waits. */
export async function migrate(config: pg.ClientConfig): Promise<void> {
  const pool = new pg.Pool({ ...config, max: 2 });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: readMigrations },
      migrationTableSchema: 'migrations',
    }).migrateToLatest();
    if (error) throw error;
  } finally {
    await db.destroy();
  }
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  const entries = files.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(new URL(name, FOLDER), 'utf8');
    return [name, { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}
