import type pg from 'pg';
import { auditLog } from '../../../projections/audit/audit-log.ts';
import { readModels } from '../../../projections/index.ts';
import { AuditKeyCheck } from '../../contexts/audit/audit-key.ts';
import { families } from '../../contexts/families.ts';
import { reactions } from '../../contexts/reactions.ts';
import type { Config } from '../config/config.ts';
import type { AccessWanted } from '../../platform/database/access-script.ts';
import { ensureAccess, identifyOwner, markedOwner } from '../../platform/database/access.ts';
import type { DatabaseConfig } from '../../platform/database/logins.ts';
import { plainPool } from '../../platform/database/plain-pool.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { requireWhole } from '../../platform/database/parts.ts';
import { restoreRights } from '../../platform/database/rights.ts';
import { requireWholeTables } from '../../platform/projector/whole-tables.ts';
import { migrateJobs } from '../../platform/jobs/postgres/schema.ts';
import { Keyring } from '../../platform/vault/keyring.ts';
import { LOGIN_SECRET, openKeyrings, type Keyrings } from '../../platform/vault/keyrings.ts';

export interface PreparedDatabase {
  readonly config: DatabaseConfig;
  readonly keyrings: Keyrings;
  readonly wanted: AccessWanted;
}

type Keys = Pick<Config, 'masterKey' | 'otherMasterKey' | 'auditKey'>;

const UNDEFINED_TABLE = '42P01';

/**
 * Prepares roles, tables, jobs, keys and rights of a database. Only reads if all are ready. Throws `ConfigError` or
 * `WrongMasterKey` before it writes anything with a wrong key, or to a database that is restored in part.
 */
export async function prepareDatabase(config: DatabaseConfig, keys: Keys): Promise<PreparedDatabase> {
  const owner = plainPool({ ...markedOwner(config), max: 2 });
  try {
    const identity = await identifyOwner(owner);
    const knowsParts = await requireWhole(owner);
    if (knowsParts) await requireWholeTables(owner, [...readModels, auditLog(keys.auditKey, families)], reactions);
    const known = await keyringsOf(owner, keys);
    const secret = loginSecret(known, keys);
    if (!identity.hasGroups) await ensureAccess(owner, identity, secret);
    await migrate(config, secret);
    // First: what its user is not allowed to give again is refused before jobs are written.
    await restoreRights(owner);
    await migrateJobs(owner);
    const keyrings = known ?? (await openKeys(owner, keys));
    const wanted = await ensureAccess(owner, { ...identity, hasGroups: true }, keyrings.current.key(LOGIN_SECRET));
    return { config: { ...config, logins: wanted.logins }, keyrings, wanted };
  } finally {
    await owner.end();
  }
}

/** Checks both keys before it writes with either. */
export async function openKeys(owner: pg.Pool, { masterKey, otherMasterKey, auditKey }: Keys): Promise<Keyrings> {
  const check = await AuditKeyCheck.of(owner, auditKey);
  const keyrings = await openKeyrings(owner, masterKey, otherMasterKey);
  await check.adopt();
  return keyrings;
}

/** Undefined while the database has no tables for keys. */
export async function keyringsOf(owner: pg.Pool, keys: Keys): Promise<Keyrings | undefined> {
  try {
    return await openKeys(owner, keys);
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

export const loginSecret = (keyrings: Keyrings | undefined, { masterKey }: Pick<Config, 'masterKey'>): Buffer =>
  (keyrings?.current ?? new Keyring(masterKey)).key(LOGIN_SECRET);
