import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ConfigError } from '../config-error.ts';
import { accessScript, CONNECTION_STATE, LOGINS_STATE, type AccessWanted } from './access-script.ts';
import type { Database } from './database.ts';
import { DATABASE_ROLES, roleGroupOf, loginsOf, type DatabaseConfig, type DatabaseRole } from './logins.ts';
import { SESSION_MARK, SESSION, SESSION_SETTING } from './session-mark.ts';

export interface DatabaseOwner {
  readonly database: string;
  readonly owner: string;
  /** The groups exist, and the owner may act as them: migrations can run. */
  readonly hasGroups: boolean;
}

const UNSUPPORTED_PARAMETER = '08P01';
const FORBIDDEN = '42501';
const WRONG_PASSWORD = '28P01';
const REFUSED_LOGIN = '28000';

const POOLER =
  'DATABASE_URL leads to a connection pooler (PgBouncer or one like it) that does not keep session settings: ' +
  'connect to PostgreSQL directly, because roles, tenants, advisory locks, LISTEN and prepared statements belong to a session';

/** Refuses a server that drops session settings, before anything is written. */
export async function identifyOwner(pool: pg.Pool): Promise<DatabaseOwner> {
  const { rows } = await pool
    .query<DatabaseOwner & { session: string | null; version: number }>(CONNECTION_STATE, [
      DATABASE_ROLES.map(roleGroupOf),
    ])
    .catch((error: unknown) => {
      throw isPooler(error) ? new ConfigError(POOLER) : error;
    });
  const { session, version, ...owner } = rows[0]!;
  if (session !== SESSION) throw new ConfigError(POOLER);
  requireVersion(version);
  return owner;
}

/** Views of the read models need `security_invoker`, which came with this version. */
export const OLDEST_POSTGRES = 15;

/** `version` is PostgreSQL's own number: 150004 for 15.4. */
export function requireVersion(version: number): void {
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_POSTGRES)
    throw new ConfigError(`DATABASE_URL leads to PostgreSQL ${major}: Castellan needs ${OLDEST_POSTGRES} or newer`);
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;
const isPooler = (error: unknown): boolean =>
  codeOf(error) === UNSUPPORTED_PARAMETER && /startup parameter/.test((error as Error).message);

/** The owner's connection settings, with the mark that shows whether a pooler is in between. */
export function markedOwner(config: DatabaseConfig): pg.ClientConfig {
  const { logins: _, ...owner } = config;
  return { ...owner, options: [owner.options, SESSION_MARK].filter(Boolean).join(' ') };
}

/** Creates missing roles. Costs one query if none is missing. */
export async function ensureAccess(
  pool: pg.Pool,
  { database, owner, hasGroups }: DatabaseOwner,
  secret?: Buffer,
): Promise<AccessWanted> {
  const wanted = { database, owner, logins: loginsOf(database, secret) };
  if (!hasGroups || !(await hasLogins(pool, wanted))) await makeAccess(pool, wanted);
  return wanted;
}

async function hasLogins(pool: pg.Pool, { logins }: AccessWanted): Promise<boolean> {
  const { rows } = await pool.query<{ isReady: boolean }>(LOGINS_STATE, [
    DATABASE_ROLES.map((role) => logins[role].user),
    DATABASE_ROLES.map(roleGroupOf),
  ]);
  return rows[0]!.isReady;
}

/** Runs the script. If the owner is not allowed to, throws `ConfigError` with the script, for an administrator. */
async function makeAccess(pool: pg.Pool, wanted: AccessWanted): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await pool.query(accessScript(wanted));
      return;
    } catch (error) {
      if (codeOf(error) === FORBIDDEN) throw neededByHand(wanted, (error as Error).message);
      // Roles belong to the cluster: another process, of this database or another, may change them at the same
      // moment.
      if (attempt === 10 || !/concurrently updated|already exists|duplicate key/.test((error as Error).message))
        throw error;
      await sleep(20 * attempt);
    }
  }
}

const neededByHand = (wanted: AccessWanted, reason: string): ConfigError =>
  new ConfigError(
    `the database user ${wanted.owner} is not allowed to create the roles that the service logs in as (${reason}): have an administrator of the server run this SQL in database ${wanted.database}, ` +
      `then start again (\`castellan database roles\` prints it too)\n\n${accessScript(wanted)}`,
  );

/**
 * Opens a connection of every pool, which stays open for use, and checks its role. If the server refuses a password
 * (after a restore into another cluster, or a renewed secret), sets the passwords once.
 */
export async function openPools(database: Database, wanted: AccessWanted): Promise<void> {
  try {
    await loginAll(database);
  } catch (error) {
    if (codeOf(error) !== WRONG_PASSWORD) throw error;
    await makeAccess(database.owner, wanted);
    await loginAll(database).catch((again: unknown) => {
      throw codeOf(again) === WRONG_PASSWORD ? neededByHand(wanted, 'the server refuses their passwords') : again;
    });
  }
}

const WHO = `select session_user as login, current_user as acting, current_setting('${SESSION_SETTING}', true) as session`;

async function loginAll({ config, pools }: Database): Promise<void> {
  const outcomes = await Promise.allSettled(DATABASE_ROLES.map((role) => loginAs(config, role, pools[role])));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function loginAs(config: DatabaseConfig, role: DatabaseRole, pool: pg.Pool): Promise<void> {
  const user = config.logins?.[role].user;
  const { rows } = await pool
    .query<{ login: string; acting: string; session: string | null }>(WHO)
    .catch((error: unknown) => {
      if (isPooler(error)) throw new ConfigError(POOLER);
      if (codeOf(error) === REFUSED_LOGIN) throw new ConfigError(notAdmitted(user, (error as Error).message));
      throw error;
    });
  const { login, acting, session } = rows[0]!;
  if (session !== SESSION || acting !== roleGroupOf(role)) throw new ConfigError(POOLER);
  if (user !== undefined && login !== user)
    throw new ConfigError(
      `the database logged ${user} in as ${login}: its pg_hba.conf must let every role log in under its own name`,
    );
}

const notAdmitted = (user: string | undefined, reason: string): string =>
  `the database does not let ${user} log in (${reason}): its pg_hba.conf must admit the four login roles of this database by password (scram-sha-256)`;
