import type pg from 'pg';
import { Keyring, open, seal } from './keyring.ts';

/**
 * What was digested or salted with these is compared for as long as there are events: account and claim digests stand in streams,
 * salts on every device. They are made from the first master key, and stay when it goes. First answers are kept for a day only, but a
 * request that is repeated must never find that its answer cannot be opened.
 */
const KEPT = ['account', 'claim', 'credential-salt', 'idempotent-answers'] as const;

/** The master key that is worked with, and another whose work is still opened while one takes the other's place. */
export interface Keyrings {
  readonly current: Keyring;
  readonly other: Keyring | undefined;
}

/** The database was sealed with a master key that is not at hand, or the one at hand was retired. Names no key. */
export class WrongMasterKey extends Error {
  constructor(reason: string) {
    super(`MASTER_KEY is not the one that this database is sealed with: ${reason}`);
    this.name = 'WrongMasterKey';
  }
}

export interface Wrapped {
  readonly wrapped: Buffer;
  /** Null: by a version that did not say. */
  readonly wrapped_by: string | null;
}

/** Opens a wrapped key with whichever master key wrapped it; undefined when neither did. */
export function openWith({ current, other }: Keyrings, purpose: string, { wrapped, wrapped_by: by }: Wrapped, bound: string): Buffer | undefined {
  for (const keyring of [current, other]) {
    if (!keyring || (by !== null && by !== keyring.fingerprint)) continue;
    try {
      return open(keyring.key(purpose), wrapped, bound);
    } catch {
      // the other one, then
    }
  }
  return undefined;
}

export const KEPT_KEY_WRAPPING = 'kept-key-wrapping';
export const TENANT_KEY_WRAPPING = 'tenant-key-wrapping';

/**
 * Takes the kept keys out of the database, making them at the very first start. Throws `WrongMasterKey`, before anything is sealed or
 * looked for with a key that would never find it.
 */
export async function openKeyrings(owner: pg.Pool, masterKey: Buffer, otherMasterKey?: Buffer): Promise<Keyrings> {
  const current = new Keyring(masterKey);
  const other = otherMasterKey && new Keyring(otherMasterKey);
  const retired = await retiredAmong(owner, [current, other]);
  if (retired.has(current.fingerprint)) wrong('it was retired');
  const keyrings = { current, other: other && retired.has(other.fingerprint) ? undefined : other };
  await register(owner, current);
  let rows = await readKept(owner);
  if (KEPT.some((purpose) => !rows.has(purpose))) {
    const maker = await makerOfKeys(owner, keyrings);
    for (const purpose of KEPT) await keep(owner, keyrings, purpose, maker.key(purpose));
    rows = await readKept(owner);
  }
  const kept = new Map([...rows].map(([purpose, row]) => [purpose, openWith(keyrings, KEPT_KEY_WRAPPING, row, purpose) ?? wrong('a key of the installation does not open')]));
  return { ...keyrings, current: current.keeping(kept) };
}

async function retiredAmong(owner: pg.Pool, keyrings: readonly (Keyring | undefined)[]): Promise<ReadonlySet<string>> {
  const asked = keyrings.flatMap((keyring) => keyring?.fingerprint ?? []);
  const { rows } = await owner.query<{ fingerprint: string }>('select fingerprint from retired_master_keys where fingerprint = any($1)', [asked]);
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

const wrong = (what: string): never => {
  throw new WrongMasterKey(what);
};

async function register(owner: pg.Pool, { fingerprint }: Keyring): Promise<void> {
  const { rowCount } = await owner.query('select from master_keys where fingerprint = $1', [fingerprint]);
  if (rowCount === 0) await owner.query('insert into master_keys (fingerprint) values ($1) on conflict do nothing', [fingerprint]);
}

async function readKept(owner: pg.Pool): Promise<ReadonlyMap<string, Wrapped>> {
  const { rows } = await owner.query<Wrapped & { purpose: string }>('select purpose, wrapped, wrapped_by from kept_keys');
  return new Map(rows.map((row) => [row.purpose, row]));
}

/** In a database from before kept keys, the master key that tenants' keys open with is the one that these were derived from, too. */
async function makerOfKeys(owner: pg.Pool, keyrings: Keyrings): Promise<Keyring> {
  const { rows } = await owner.query<Wrapped & { tenant_id: string }>('select tenant_id, wrapped, wrapped_by from tenant_keys limit 1');
  const [row] = rows;
  if (!row) return keyrings.current;
  const opens = (keyring: Keyring | undefined) => keyring && openWith({ current: keyring, other: undefined }, TENANT_KEY_WRAPPING, row, row.tenant_id) && keyring;
  return opens(keyrings.current) ?? opens(keyrings.other) ?? wrong("a tenant's key does not open");
}

async function keep(owner: pg.Pool, { current }: Keyrings, purpose: string, key: Buffer): Promise<void> {
  const wrapped = seal(current.key(KEPT_KEY_WRAPPING), key, purpose);
  await owner.query('insert into kept_keys (purpose, wrapped, wrapped_by) values ($1, $2, $3) on conflict do nothing', [purpose, wrapped, current.fingerprint]);
}
