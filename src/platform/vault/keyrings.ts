import { hkdfSync } from 'node:crypto';
import type pg from 'pg';
import { ConfigError } from '../config-error.ts';
import { transaction } from '../database/transaction.ts';
import { Keyring, newKey, decrypt, encrypt } from './keyring.ts';

/**
 * What was digested or salted with these is compared for as long as there are events: account and claim digests stand in streams,
 * salts on every device, digests of idempotency keys for a day. They stay when the master key goes that first wrapped them.
 */
const KEPT = ['account', 'claim', 'credential-salt', 'idempotency', 'database-logins'] as const;

/**
 * What the passwords of the database's roles are derived from (`database/logins.ts`). It has to be known before there is a table to keep
 * it in, so it begins as a key of the first master key; it is kept when that one goes, so that processes with either log in alike.
 */
export const LOGIN_SECRET = 'database-logins';

/** The master key that is worked with, and another whose work is still opened while one takes the other's place. */
export interface Keyrings {
  readonly current: Keyring;
  readonly other: Keyring | undefined;
}

/** The key of a purpose, the current master key's first. */
export const keysOf = ({ current, other }: Keyrings, purpose: string): [Buffer, ...Buffer[]] =>
  other ? [current.key(purpose), other.key(purpose)] : [current.key(purpose)];

/** The database was sealed with a master key that is not at hand, or the one at hand was retired. Names no key. */
export class WrongMasterKey extends Error {
  constructor(reason: string) {
    super(`MASTER_KEY is not the one that this database is sealed with: ${reason}`);
    this.name = 'WrongMasterKey';
  }
}

/** Digest keys that this installation once had are gone from its database. Others would find no account and no claim. */
export class KeysMissing extends ConfigError {
  constructor(purposes: readonly string[]) {
    super(
      `keys are missing from this database (${purposes.join(', ')}), and new ones would find nothing that was digested with them: restore the table kept_keys from a backup; nothing was changed`,
    );
    this.name = 'KeysMissing';
  }
}

/** Names a key without telling anything of it: 16 hex digits. */
export const keyFingerprint = (key: Buffer): string =>
  Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'castellan/kept-key-fingerprint', 8)).toString('hex');

export interface Wrapped {
  readonly wrapped: Buffer;
  /** Null: by a version that did not say. */
  readonly wrapped_by: string | null;
}

export const KEPT_KEY_WRAPPING = 'kept-key-wrapping';
export const TENANT_KEY_WRAPPING = 'tenant-key-wrapping';

/** Opens a wrapped key, and says with whose master key; undefined when neither opens it. */
export function unwrapWith(
  { current, other }: Keyrings,
  purpose: string,
  { wrapped, wrapped_by: by }: Wrapped,
  bound: string,
): { key: Buffer; opener: Keyring } | undefined {
  for (const opener of [current, other]) {
    if (!opener || (by !== null && by !== opener.fingerprint)) continue;
    try {
      return { key: decrypt(opener.key(purpose), wrapped, bound), opener };
    } catch {
      // the other one, then
    }
  }
  return undefined;
}

/**
 * Takes the kept keys out of the database, making them at the very first start. Throws `WrongMasterKey`, with nothing written, before
 * anything is sealed or looked for with a key that would never find it.
 */
export async function openKeyrings(owner: pg.Pool, masterKey: Buffer, otherMasterKey?: Buffer): Promise<Keyrings> {
  const current = new Keyring(masterKey);
  const other = otherMasterKey && new Keyring(otherMasterKey);
  return transaction(owner, async (client) => {
    // First said, then asked: a retirement at the same moment is either seen here or waits, and finds this one to retire.
    await client.query('insert into master_keys (fingerprint) values ($1) on conflict do nothing', [
      current.fingerprint,
    ]);
    const retired = await retiredAmong(client, [current, other]);
    if (retired.has(current.fingerprint)) throw new WrongMasterKey('it was retired');
    const keyrings = { current, other: other && retired.has(other.fingerprint) ? undefined : other };
    return { ...keyrings, current: current.keeping(await keptKeys(client, keyrings)) };
  });
}

async function retiredAmong(
  client: pg.PoolClient,
  keyrings: readonly (Keyring | undefined)[],
): Promise<ReadonlySet<string>> {
  const asked = keyrings.flatMap((keyring) => keyring?.fingerprint ?? []);
  const { rows } = await client.query<{ fingerprint: string }>(
    'select fingerprint from retired_master_keys where fingerprint = any($1)',
    [asked],
  );
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

async function keptKeys(client: pg.PoolClient, keyrings: Keyrings): Promise<ReadonlyMap<string, Buffer>> {
  let rows = await readKept(client);
  const missing = KEPT.filter((purpose) => !rows.has(purpose));
  if (missing.length > 0) {
    if (await isIdentified(client)) throw new KeysMissing(missing);
    const keyOf = await makerOfKeys(client, keyrings);
    for (const purpose of KEPT)
      await keep(
        client,
        keyrings.current,
        purpose,
        purpose === LOGIN_SECRET ? keyrings.current.key(purpose) : keyOf(purpose),
      );
    rows = await readKept(client);
  }
  return new Map(
    [...rows].map(([purpose, row]) => [
      purpose,
      unwrapWith(keyrings, KEPT_KEY_WRAPPING, row, purpose)?.key ?? wrong('a key of the installation does not open'),
    ]),
  );
}

/** An installation that has an identity has had its keys: they are never made again. */
async function isIdentified(client: pg.PoolClient): Promise<boolean> {
  const {
    rows: [table],
  } = await client.query<{ exists: boolean }>(`select to_regclass('public.installation') is not null as exists`);
  if (!table!.exists) return false;
  return (await client.query('select from installation')).rowCount! > 0;
}

async function readKept(client: pg.PoolClient): Promise<ReadonlyMap<string, Wrapped>> {
  const { rows } = await client.query<Wrapped & { purpose: string }>(
    'select purpose, wrapped, wrapped_by from kept_keys',
  );
  return new Map(rows.map((row) => [row.purpose, row]));
}

/**
 * A new installation's keys owe nothing to its master key. In a database from before kept keys they were derived from the one that its
 * tenants' keys open with.
 */
async function makerOfKeys(client: pg.PoolClient, keyrings: Keyrings): Promise<(purpose: string) => Buffer> {
  const { rows } = await client.query<Wrapped & { tenant_id: string }>(
    'select tenant_id, wrapped, wrapped_by from tenant_keys limit 1',
  );
  const [row] = rows;
  if (!row) return newKey;
  const { opener } =
    unwrapWith(keyrings, TENANT_KEY_WRAPPING, row, row.tenant_id) ?? wrong("a tenant's key does not open");
  return (purpose) => opener.key(purpose);
}

/** Of processes that start at once, the first one's is kept. */
async function keep(client: pg.PoolClient, keyring: Keyring, purpose: string, key: Buffer): Promise<void> {
  const wrapped = encrypt(keyring.key(KEPT_KEY_WRAPPING), key, purpose);
  await client.query(
    'insert into kept_keys (purpose, wrapped, wrapped_by) values ($1, $2, $3) on conflict do nothing',
    [purpose, wrapped, keyring.fingerprint],
  );
}

const wrong = (what: string): never => {
  throw new WrongMasterKey(what);
};
