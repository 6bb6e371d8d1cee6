import { join } from 'node:path';
import type { Pool } from 'pg';
import { readModels } from '../../../projections/index.ts';
import { auditLog } from '../../../projections/audit/audit-log.ts';
import { AuditKeyCheck } from '../../contexts/audit/audit-key.ts';
import { families } from '../../contexts/families.ts';
import { reactions } from '../../contexts/reactions.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { identifyOwner, markedOwner } from '../../platform/database/access.ts';
import { connectionOf, type DatabaseConfig } from '../../platform/database/logins.ts';
import { whyNotMigrated } from '../../platform/database/migrate.ts';
import { whatIsMissing } from '../../platform/database/parts.ts';
import { lostRights } from '../../platform/database/rights.ts';
import { plainPool } from '../../platform/database/plain-pool.ts';
import { checkMasterKey, WrongMasterKey } from '../../platform/vault/keyrings.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { whatTablesLack } from '../../platform/projector/whole-tables.ts';
import { fine, finding, type Examined } from './examined.ts';

const CONNECT_MS = 5_000;
const CLOCK_MS = 5_000;
const EXPIRY_DAYS = 30;
/** Names in one message. */
const NAMED = 3;

/** Which keys come from the settings. */
export interface GivenKeys {
  readonly master: boolean;
  readonly audit: boolean;
}

type Look = (pool: Pool, connection: DatabaseConfig) => Promise<readonly Examined[]>;

/** Looks at the database that the settings name, or at the embedded one if it runs. */
export async function examineDatabase(config: Config, look: Look): Promise<readonly Examined[]> {
  const running = config.databaseUrl === undefined ? findEmbeddedPostgres(join(config.dataDir, 'postgres')) : undefined;
  if (config.databaseUrl === undefined && !running) return [fine('embedded, not running: the service starts it')];
  const connection = config.databaseUrl === undefined ? { ...running! } : connectionOf(config.databaseUrl);
  const pool = plainPool({ ...markedOwner(connection), max: 1, connectionTimeoutMillis: CONNECT_MS });
  try {
    return await look(pool, connection);
  } finally {
    await pool.end();
  }
}

interface ServerState {
  readonly version: string;
  readonly skew: number;
  readonly creates: boolean;
  readonly connections: number;
  readonly missing: readonly string[];
}

const SERVER_STATE = `
  select current_setting('server_version') as version,
         (extract(epoch from clock_timestamp()) * 1000 - $1::float8)::float8 as skew,
         (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as creates,
         current_setting('max_connections')::int as connections,
         (select coalesce(array_agg(name), '{}') from unnest(array['pg_trgm', 'btree_gin']) as wanted(name)
           where not exists (select from pg_available_extensions a where a.name = wanted.name)) as missing`;

/** Whether the database is one that this version starts on, restored as a whole. */
export const completeness =
  ({ auditKey }: Pick<Config, 'auditKey'>): Look =>
  async (pool) => {
    const tooOld = await whyNotMigrated(pool);
    if (tooOld !== undefined) return [finding(tooOld)];
    const { rows } = await pool.query<{ exist: boolean }>("select to_regclass('public.cursors') is not null as exist");
    const models = [...readModels, auditLog(auditKey, families)];
    const tables = rows[0]!.exist;
    const reason =
      (await whatIsMissing(pool)) ??
      (tables ? ((await whatTablesLack(pool, models, reactions)) ?? (await lostRights(pool))) : undefined);
    return [reason === undefined ? fine('nothing is missing') : finding(reason)];
  };

/** Version, clock, rights, extensions and connections of the server. */
export const databaseServer: Look = async (pool) => {
  const owner = await identifyOwner(pool);
  const { rows } = await pool.query<ServerState>(SERVER_STATE, [Date.now()]);
  const state = rows[0]!;
  return [
    fine(`PostgreSQL ${state.version}, connected directly, as ${owner.owner} of ${owner.database}`),
    ...serverFindings(state, owner.hasGroups),
  ];
};

function serverFindings({ skew, creates, connections, missing }: ServerState, hasGroups: boolean): Examined[] {
  return [
    ...(Math.abs(skew) > CLOCK_MS
      ? [finding(`the clocks of database and this machine differ by ${Math.round(Math.abs(skew) / 1_000)} s`)]
      : []),
    ...(creates || hasGroups
      ? []
      : [
          finding(
            'the user may not create roles, and they are missing: have an administrator run `castellan database roles`',
          ),
        ]),
    ...missing.map((name) =>
      finding(`the extension ${name} is not installed on the server (package postgresql-contrib)`),
    ),
    ...(connections < 50 ? [finding(`max_connections is ${connections}: one process opens up to 42`)] : []),
  ];
}

/** Whether the keys of the settings are those of the database. A key that the service would create is not compared. */
export const keys =
  ({ masterKey, otherMasterKey, auditKey }: Config, given: GivenKeys): Look =>
  async (pool) => {
    const { rows } = await pool.query<{ exist: boolean }>(
      "select to_regclass('kept_keys') is not null and to_regclass('audit_key') is not null as exist",
    );
    if (!rows[0]!.exist) return [fine('this database has none yet')];
    const found = await Promise.all([
      given.master ? refusal(checkMasterKey(pool, masterKey, otherMasterKey)) : undefined,
      given.audit ? refusal(AuditKeyCheck.of(pool, auditKey)) : undefined,
    ]);
    const wrong = found.filter((message) => message !== undefined).map(finding);
    return wrong.length > 0 ? wrong : [fine('those of this database')];
  };

/** What is wrong with a key. Any other error passes. */
const refusal = (check: Promise<unknown>): Promise<string | undefined> =>
  check.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof WrongMasterKey || error instanceof ConfigError) return error.message;
      throw error;
    },
  );

interface LicenseState {
  readonly name: string;
  readonly days: number | null;
  readonly seats: number | null;
  readonly people: number;
}

const LICENSES = `
  select t.name, floor(extract(epoch from (license->>'expiresAt')::timestamptz - now()) / 86400)::int as days,
         (license->>'maxUsers')::int as seats,
         (select count(*)::int from employees e where e.tenant_id = t.tenant_id) as people
    from tenants t order by t.name`;

/** Tenants whose license ends soon or has ended, or has no seat left for another employee. */
export const licenses: Look = async (pool) => {
  const { rows: tables } = await pool.query<{ exist: boolean }>(
    "select to_regclass('tenants') is not null and to_regclass('employees') is not null as exist",
  );
  if (!tables[0]!.exist) return [fine('no tenants yet')];
  const { rows } = await pool.query<LicenseState>(LICENSES);
  const found = [
    tenantsThat('have no license', rows, ({ days }) => days === null),
    tenantsThat('have a license that has ended', rows, ({ days }) => days !== null && days < 0),
    tenantsThat(`have a license that ends within ${EXPIRY_DAYS} days`, rows, ({ days }) =>
      days === null ? false : days >= 0 && days < EXPIRY_DAYS,
    ),
    tenantsThat('have no free seat', rows, ({ seats, people }) => seats !== null && people >= seats),
  ].flat();
  return found.length > 0 ? found : [fine(`valid for all ${rows.length} tenants, with free seats`)];
};

function tenantsThat(words: string, rows: readonly LicenseState[], test: (row: LicenseState) => boolean): Examined[] {
  const names = rows.filter(test).map(({ name }) => name);
  if (names.length === 0) return [];
  const rest = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return [finding(`${names.length} of ${rows.length} tenants ${words}: ${names.slice(0, NAMED).join(', ')}${rest}`)];
}
