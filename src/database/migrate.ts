import { readdir, readFile } from 'node:fs/promises';
import type { Migration } from 'kysely';
import type pg from 'pg';
import { ensureAccess, identifyOwner, markedOwner } from './access.ts';
import { plainPool } from './plain-pool.ts';
import { ensureRightsBeforeMigrations, rememberRights } from './rights.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/**
 * The plain .sql files beside this one, applied once each and in order; of two processes at a time one waits. Where the roles are
 * missing that they name, those are made first, with passwords derived from `secret`.
 */
export async function migrate(config: pg.ClientConfig, secret?: Buffer): Promise<void> {
  const pool = plainPool({ ...markedOwner(config), max: 2 });
  if (await isCurrent(pool)) return pool.end();
  const { Kysely, Migrator, PostgresDialect } = await import('kysely');
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await ensureAccess(pool, await identifyOwner(pool), secret);
    await ensureRightsBeforeMigrations(pool);
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: readMigrations },
      migrationTableSchema: 'migrations',
    }).migrateToLatest();
    if (error) throw error;
    await rememberRights(pool);
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

const migrationFiles = async (): Promise<string[]> =>
  (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();

/** The first statement of this one makes the groups, which exist by now: a user who may not make roles would be refused. */
const MAKES_GROUPS = '001_roles.sql';
const BEHIND_FIRST_STATEMENT = /^end \$\$;$/m;

async function readMigrations(): Promise<Record<string, Migration>> {
  const { sql } = await import('kysely');
  const entries = (await migrationFiles()).map(async (name): Promise<[string, Migration]> => {
    const whole = await readFile(new URL(name, FOLDER), 'utf8');
    const text =
      name === MAKES_GROUPS
        ? whole.slice(whole.search(BEHIND_FIRST_STATEMENT)).replace(BEHIND_FIRST_STATEMENT, '')
        : whole;
    return [name, { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}
