import type pg from 'pg';
import { ensureAccess, identifyOwner, markedOwner } from './access.ts';
import { migrationSteps, newestMigrations } from './migration-steps.ts';
import { plainPool } from './plain-pool.ts';
import { ensureRightsBeforeMigrations, recordRights } from './rights.ts';

/**
 * Brings the tables to this version: a new database gets the base, an older one its upgrades. All of it commits at once,
 * and of processes that start together one does it while the others wait. Roles that the migrations name are made first,
 * if they are missing, with passwords derived from `secret`.
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

/** Most starts find nothing to do: then the migrator need not even be loaded. */
async function isCurrent(pool: pg.Pool): Promise<boolean> {
  try {
    const { rows } = await pool.query<{ name: string }>('select name from migrations.kysely_migration');
    const done = new Set(rows.map(({ name }) => name));
    return (await newestMigrations()).every((name) => done.has(name));
  } catch {
    return false;
  }
}
