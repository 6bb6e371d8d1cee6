import { readdir, readFile } from 'node:fs/promises';
import type { Kysely, Migration } from 'kysely';
import { ConfigError } from '../config-error.ts';
import { keepingParts } from './changed-parts.ts';

const FOLDER = new URL('./migrations/', import.meta.url);
/** The schema of a new installation, by subject. It is what the first migrations and all of `upgrades/` lead to. */
const BASE = 'base/';
/** For databases that ran the first migrations and not these. */
const UPGRADES = 'upgrades/';
/** Directly in the folder: migrations that came after the base. Every database runs them. */
const LATER = './';

/** Replaced by the base. A database that has run some of them has to have run them all. */
const FIRST = [
  '001_roles.sql',
  '002_event_store.sql',
  '003_append_events.sql',
  '004_vault.sql',
  '005_sessions.sql',
  '006_projections.sql',
  '007_search.sql',
  '008_provider_calls.sql',
  '009_lean_appends.sql',
  '010_fitting_appends.sql',
  '011_lone_appends.sql',
  '012_lean_checkpoints.sql',
  '013_tighter_lone_appends.sql',
  '014_master_keys.sql',
] as const;

const namesIn = async (folder: string, all: URL = FOLDER): Promise<string[]> =>
  (await readdir(new URL(folder, all))).filter((name) => name.endsWith('.sql')).sort();

/** A database that has run all of these has nothing to do: no migration is run without those before it. */
export const newestMigrations = async (): Promise<string[]> =>
  (await Promise.all([namesIn(UPGRADES), namesIn(LATER)])).flat();

/**
 * Every migration by its name, for a migrator that runs them in order and records each. A new database runs the base
 * under the first name and records the others that the base stands for. It is then the same as one that was upgraded,
 * in its records too, so dumps, older versions and later migrations need not know where a database comes from.
 */
export async function migrationSteps(folder: URL = FOLDER): Promise<Record<string, Migration>> {
  const { sql } = await import('kysely');
  const execute = async (db: Kysely<unknown>, file: string): Promise<void> =>
    void (await sql.raw(await readFile(new URL(file, folder), 'utf8')).execute(db));
  const [base, upgrades, later] = await Promise.all([
    namesIn(BASE, folder),
    namesIn(UPGRADES, folder),
    namesIn(LATER, folder),
  ]);
  const [first, ...replaced] = FIRST;
  let isNew = false;

  const steps: Record<string, Migration['up']> = {};
  steps[first] = async (db) => {
    isNew = true;
    for (const name of base) await execute(db, BASE + name);
  };
  for (const name of replaced)
    steps[name] = async () => {
      if (!isNew) throw tooOld(name);
    };
  for (const name of upgrades)
    steps[name] = async (db) => {
      if (!isNew) await execute(db, UPGRADES + name);
    };
  for (const name of later) steps[name] = (db) => keepingParts(db, () => execute(db, LATER + name));
  return Object.fromEntries(Object.entries(steps).map(([name, up]) => [name, { up }]));
}

/** Why this version cannot upgrade a database that has run these migrations. Undefined if it can, or for a new database. */
export function upgradeRefusal(done: ReadonlySet<string>): ConfigError | undefined {
  const missing = done.has(FIRST[0]) ? FIRST.find((name) => !done.has(name)) : undefined;
  return missing && tooOld(missing);
}

const tooOld = (missing: string): ConfigError =>
  new ConfigError(
    `this database lacks migration ${missing}, and this version upgrades only databases that have ${FIRST.at(-1)}: ` +
      'back it up, start commit 9a775b6 of Castellan on it once, which upgrades it, and then start this version',
  );
