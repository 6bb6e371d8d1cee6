import type pg from 'pg';
import { ensureAccess, identifyOwner, markedOwner } from './access.ts';
import { migrationSteps, newestMigrations, upgradeRefusal } from './migration-steps.ts';
import { plainPool } from './plain-pool.ts';
import { ensureRightsBeforeMigrations, recordRights } from './rights.ts';

/**
 * Migrates the tables to this version: a new database gets the base, an older one its upgrades. Everything commits at
 * once. If processes start together, one migrates while the others wait. Missing roles that the migrations name are
 * created first, with passwords derived from `secret`.
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
      provider: { getMigrations: migrationSteps },
      migrationTableSchema: 'migrations',
    }).migrateToLatest();
    if (error) throw error;
    await recordRights(pool);
  } finally {
    await db.destroy();
  }
}

/** The names of the migrations that a database has run. Throws if there is no such list. */
async function migrationsDone(pool: Pick<pg.Pool, 'query'>): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string }>('select name from migrations.kysely_migration');
  return new Set(rows.map(({ name }) => name));
}

/** Why a start would refuse to migrate this database. Changes nothing. */
export async function whyNotMigrated(pool: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await pool.query<{ exist: boolean }>(
    "select to_regclass('migrations.kysely_migration') is not null as exist",
  );
  return rows[0]!.exist ? upgradeRefusal(await migrationsDone(pool))?.message : undefined;
}

/** Most starts have nothing to migrate, and then do not load the migrator. */
async function isCurrent(pool: pg.Pool): Promise<boolean> {
  try {
    const done = await migrationsDone(pool);
    return (await newestMigrations()).every((name) => done.has(name));
  } catch {
    return false;
  }
}
