import { hkdfSync } from 'node:crypto';
import type pg from 'pg';
import { ConfigError } from '../config-error.ts';
import { transaction } from '../database/transaction.ts';
import { Keyring, newKey, decrypt, encrypt } from './keyring.ts';

/**
 * Values digested or salted with these keys are compared as long as events exist: account and claim digests are in
 * streams, salts on every device, digests of idempotency keys live for a day. The keys outlive the master key that
 * first wrapped them.
 */
const KEPT = ['account', 'claim', 'credential-salt', 'idempotency', 'database-logins'] as const;

/**
 * The passwords of the database's roles are derived from this key (`database/logins.ts`). It is needed before there is
 * a table to keep it in, so it starts as a derived key of the first master key. It is kept when that master key is
 * retired, so that processes with either master key can log in.
 */
export const LOGIN_SECRET = 'database-logins';

/** The current master key, and during a rotation another one whose keys can still be unwrapped. */
export interface Keyrings {
  readonly current: Keyring;
  readonly other: Keyring | undefined;
}

/** The keys of a purpose, the current master key's first. */
export const keysOf = ({ current, other }: Keyrings, purpose: string): [Buffer, ...Buffer[]] =>
  other ? [current.key(purpose), other.key(purpose)] : [current.key(purpose)];

/** The database was sealed with an unknown master key, or the given one was retired. The message contains no key. */
export class WrongMasterKey extends Error {
  constructor(reason: string) {
    super(`MASTER_KEY is not the one that this database is sealed with: ${reason}`);
    this.name = 'WrongMasterKey';
  }
}

/**
 * Digest keys that this installation once had are missing from its database. New keys would find no account and no
 * claim.
 */
export class KeysMissing extends ConfigError {
  constructor(purposes: readonly string[]) {
    super(
      `keys are missing from this database (${purposes.join(', ')}), and values digested with them could not be found with new ones: restore the table kept_keys from a backup; nothing was changed`,
    );
    this.name = 'KeysMissing';
  }
}

/** Identifies a key without revealing it: 16 hex digits. */
export const keyFingerprint = (key: Buffer): string =>
  Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'castellan/kept-key-fingerprint', 8)).toString('hex');

export interface Wrapped {
  readonly wrapped: Buffer;
  /** Null: wrapped by a version that did not record it. */
  readonly wrapped_by: string | null;
}

export const KEPT_KEY_WRAPPING = 'kept-key-wrapping';
export const TENANT_KEY_WRAPPING = 'tenant-key-wrapping';

/** Unwraps a key, and returns the keyring that did. Undefined if neither can. */
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
      // Try the other keyring.
    }
  }
  return undefined;
}

/**
 * Loads the kept keys from the database, or creates them at the very first start. Throws `WrongMasterKey`, with nothing
 * written, before anything is sealed or looked up with a wrong key.
 */
export async function openKeyrings(owner: pg.Pool, masterKey: Buffer, otherMasterKey?: Buffer): Promise<Keyrings> {
  const current = new Keyring(masterKey);
  const other = otherMasterKey && new Keyring(otherMasterKey);
  return transaction(owner, async (client) => {
    // Insert before the check: a concurrent retirement is either seen here, or waits and then retires this key too.
    await client.query('insert into master_keys (fingerprint) values ($1) on conflict do nothing', [
      current.fingerprint,
    ]);
    const retired = await retiredAmong(client, [current, other]);
    if (retired.has(current.fingerprint)) throw new WrongMasterKey('it was retired');
    const keyrings = { current, other: other && retired.has(other.fingerprint) ? undefined : other };
    return { ...keyrings, current: current.keeping(await keptKeys(client, keyrings)) };
  });
}

/** Throws `WrongMasterKey` if the database was sealed with another master key. Writes nothing. */
export async function checkMasterKey(owner: pg.Pool, masterKey: Buffer, otherMasterKey?: Buffer): Promise<void> {
  const keyrings = { current: new Keyring(masterKey), other: otherMasterKey && new Keyring(otherMasterKey) };
  await transaction(owner, async (client) => {
    const retired = await retiredAmong(client, [keyrings.current]);
    if (retired.size > 0) throw new WrongMasterKey('it was retired');
    for (const [purpose, row] of await readKept(client))
      if (!unwrapWith(keyrings, KEPT_KEY_WRAPPING, row, purpose)) wrong('it does not unwrap a key of the installation');
  });
}

async function retiredAmong(
  client: pg.PoolClient,
  keyrings: readonly (Keyring | undefined)[],
): Promise<ReadonlySet<string>> {
  const fingerprints = keyrings.flatMap((keyring) => keyring?.fingerprint ?? []);
  const { rows } = await client.query<{ fingerprint: string }>(
    'select fingerprint from retired_master_keys where fingerprint = any($1)',
    [fingerprints],
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
      unwrapWith(keyrings, KEPT_KEY_WRAPPING, row, purpose)?.key ??
        wrong('it does not unwrap a key of the installation'),
    ]),
  );
}

/** An installation with an identity already had its keys: they are never created again. */
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
 * Keys of a new installation are random. In a database older than kept keys they were derived from the master key that
 * unwraps its tenants' keys.
 */
async function makerOfKeys(client: pg.PoolClient, keyrings: Keyrings): Promise<(purpose: string) => Buffer> {
  const { rows } = await client.query<Wrapped & { tenant_id: string }>(
    'select tenant_id, wrapped, wrapped_by from tenant_keys limit 1',
  );
  const [row] = rows;
  if (!row) return newKey;
  const { opener } =
    unwrapWith(keyrings, TENANT_KEY_WRAPPING, row, row.tenant_id) ?? wrong("it does not unwrap a tenant's key");
  return (purpose) => opener.key(purpose);
}

/** If several processes start at once, the first key is kept. */
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
