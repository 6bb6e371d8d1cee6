import type pg from 'pg';
import { ConfigError } from '../config-error.ts';
import { tablesWithoutRows } from './lost-rows.ts';

/** Parts that a message names. */
const NAMED = 3;

interface Found {
  readonly isOurs: boolean;
  readonly hasMigrations: boolean;
  readonly hasParts: boolean;
}

/** The schema of jobs is made after all other tables, and restored before them. */
const FOUND = `
  select to_regclass('public.events') is not null or to_regnamespace('jobs') is not null as "isOurs",
         to_regclass('migrations.kysely_migration') is not null as "hasMigrations",
         to_regclass('public.kept_parts') is not null and to_regclass('public.present_parts') is not null as "hasParts"`;

/** Since this migration, a database knows what it consists of. */
const SINCE = '055_kept_parts.sql';

const MIGRATED = `select count(*)::int as all, count(*) filter (where name = '${SINCE}')::int as "knowsParts" from migrations.kysely_migration`;

const MISSING = `
  select (select count(*)::int from kept_parts) as kept,
         array(select k.part from kept_parts k where k.part not in (select part from present_parts) order by k.part) as missing`;

/**
 * What is wrong with a database that is restored in part: a dump restores rows after tables, and constraints, indexes and row
 * security after rows. Undefined for a whole database, an empty one, and one from before migration 055.
 */
export async function whatIsMissing(owner: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  let state = await found(owner);
  if (!state.isOurs) return undefined;
  if (!state.hasParts) {
    if (await isOlder(owner, state.hasMigrations)) return undefined;
    // Another process may have migrated it between the two looks.
    state = await found(owner);
  }
  if (!state.hasParts || !state.hasMigrations) return unended('some of its tables are missing or empty');
  const { kept, missing } = (await owner.query<{ kept: number; missing: string[] }>(MISSING)).rows[0]!;
  if (kept === 0) return unended('some of its tables are empty');
  // Without its tables, a database cannot be asked for their rows.
  const lacking = missing.length > 0 ? missing : (await tablesWithoutRows(owner)).map((table) => `rows of ${table}`);
  return lacking.length === 0 ? undefined : unended(`it lacks ${partsInWords(lacking)}`);
}

const found = async (owner: Pick<pg.Pool, 'query'>): Promise<Found> => (await owner.query<Found>(FOUND)).rows[0]!;

async function isOlder(owner: Pick<pg.Pool, 'query'>, hasMigrations: boolean): Promise<boolean> {
  if (!hasMigrations) return false;
  const { all, knowsParts } = (await owner.query<{ all: number; knowsParts: number }>(MIGRATED)).rows[0]!;
  return all > 0 && knowsParts === 0;
}

export const unended = (what: string): string =>
  `this database is not whole: ${what}. A restore did not end, or failed in part: empty the database and restore it again (docs/operations.md, "Backup and restore")`;

export function partsInWords(parts: readonly string[]): string {
  const rest = parts.length > NAMED ? ` and ${parts.length - NAMED} more` : '';
  return `${parts.length} of its parts (${parts.slice(0, NAMED).join(', ')}${rest})`;
}

/** Throws `ConfigError` for a database that is restored in part. Only reads. Returns whether it knows its parts. */
export async function requireWhole(owner: pg.Pool): Promise<boolean> {
  const reason = await whatIsMissing(owner);
  if (reason !== undefined) throw new ConfigError(reason);
  return (await found(owner)).hasParts;
}
