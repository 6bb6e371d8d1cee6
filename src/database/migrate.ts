import { readdir, readFile } from 'node:fs/promises';
import type { Migration } from 'kysely';
import type pg from 'pg';
import { plainPool } from './plain-pool.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** The plain .sql files beside this one, applied once each and in order; of two processes at a time one waits. */
export async function migrate(config: pg.ClientConfig): Promise<void> {
  const pool = plainPool({ ...config, max: 2 });
  if (await isCurrent(pool)) return pool.end();
  const { Kysely, Migrator, PostgresDialect } = await import('kysely');
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: readMigrations },
      migrationTableSchema: 'migrations',
    }).migrateToLatest();
    if (error) throw error;
    await grantOnDatabase(pool);
  } finally {
    await db.destroy();
  }
}

/** Most starts find nothing to do: then the migrator need not even be loaded. */
async function isCurrent(pool: pg.Pool): Promise<boolean> {
  try {
    const { rows } = await pool.query<{ name: string }>('select name from migrations.kysely_migration');
    const done = new Set(rows.map(({ name }) => name));
    return (await migrationFiles()).every((name) => done.has(name));
  } catch {
    return false;
  }
}

const migrationFiles = async (): Promise<string[]> => (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();

/** Privileges on the database itself travel neither with a dump nor with a template, so they are given at every start. */
async function grantOnDatabase(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ missing: boolean }>(
    `select not has_database_privilege('castellan_projector', current_database(), 'create, temporary') as missing`,
  );
  if (!rows[0]!.missing) return;
  await pool.query(`do $$ begin execute format('grant create, temporary on database %I to castellan_projector', current_database()); end $$`);
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const { sql } = await import('kysely');
  const entries = (await migrationFiles()).map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(new URL(name, FOLDER), 'utf8');
    return [name, { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}
