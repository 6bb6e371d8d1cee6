import type pg from 'pg';
import { transaction } from '../database/transaction.ts';
import { encrypt } from './keyring.ts';
import {
  KEPT_KEY_WRAPPING,
  unwrapWith,
  TENANT_KEY_WRAPPING,
  WrongMasterKey,
  type Keyrings,
  type Wrapped,
} from './keyrings.ts';

/** A table of keys that master keys wrap, each bound to its name. */
interface WrappedKeys {
  readonly table: 'tenant_keys' | 'kept_keys';
  readonly name: 'tenant_id' | 'purpose';
  readonly type: 'uuid' | 'text';
  readonly wrapping: string;
}
const TENANT_KEYS: WrappedKeys = {
  table: 'tenant_keys',
  name: 'tenant_id',
  type: 'uuid',
  wrapping: TENANT_KEY_WRAPPING,
};
const KEPT_KEYS: WrappedKeys = { table: 'kept_keys', name: 'purpose', type: 'text', wrapping: KEPT_KEY_WRAPPING };

export interface Rewrapped {
  readonly tenantKeys: number;
  readonly keptKeys: number;
  /** Fingerprints of all retired master keys, including those of earlier rotations. */
  readonly retired: readonly string[];
}

/** A newer master key is already in use. Retiring it for an older one would lock out the processes that have it. */
export class NewerMasterKey extends Error {
  constructor(fingerprint: string) {
    super(`master key ${fingerprint} is newer than this MASTER_KEY: run the command with the newer one as MASTER_KEY`);
    this.name = 'NewerMasterKey';
  }
}

/**
 * Wraps every key with the current master key and retires all others, in one transaction. Look-ups of keys wait for it.
 * A retired key may still be given to unwrap what it wrapped here. Throws `WrongMasterKey` if a key opens with neither
 * master key, and `NewerMasterKey`; then nothing is changed.
 */
export async function rewrap(owner: pg.Pool, keyrings: Keyrings): Promise<Rewrapped> {
  const { fingerprint } = keyrings.current;
  return transaction(owner, async (client) => {
    await client.query('lock table tenant_keys, kept_keys, master_keys in access exclusive mode');
    await refuseNewer(client, fingerprint);
    const openers = new Set<string>();
    const tenantKeys = await rewrapTable(client, keyrings, TENANT_KEYS, openers);
    const keptKeys = await rewrapTable(client, keyrings, KEPT_KEYS, openers);
    // From now on, a version that does not record its master key can no longer wrap keys.
    await client.query('alter table tenant_keys alter column wrapped_by set not null');
    await client.query(RETIRE, [fingerprint, [...openers]]);
    const { rows } = await client.query<{ fingerprint: string }>(
      'select fingerprint from retired_master_keys order by retired_at, fingerprint',
    );
    return { tenantKeys, keptKeys, retired: rows.map((row) => row.fingerprint) };
  });
}

const RETIRE = `
  with gone as (delete from master_keys where fingerprint <> $1 returning fingerprint)
  insert into retired_master_keys (fingerprint)
  select fingerprint from gone union select opener from unnest($2::text[]) as opener where opener <> $1
  on conflict do nothing`;

async function refuseNewer(client: pg.PoolClient, fingerprint: string): Promise<void> {
  const { rows } = await client.query<{ fingerprint: string }>(
    'select n.fingerprint from master_keys n join master_keys c on n.since > c.since where c.fingerprint = $1 order by n.since desc limit 1',
    [fingerprint],
  );
  if (rows[0]) throw new NewerMasterKey(rows[0].fingerprint);
}

/** Adds the fingerprints of the master keys that were needed to `openers`. */
async function rewrapTable(
  client: pg.PoolClient,
  keyrings: Keyrings,
  { table, name, type, wrapping }: WrappedKeys,
  openers: Set<string>,
): Promise<number> {
  const { current } = keyrings;
  const { rows } = await client.query<Wrapped & { bound: string }>(
    `select ${name}::text as bound, wrapped, wrapped_by from ${table} where wrapped_by is distinct from $1`,
    [current.fingerprint],
  );
  const rewrapped = rows.map((row) => {
    const opened = unwrapWith(keyrings, wrapping, row, row.bound);
    if (!opened) throw new WrongMasterKey(`it does not unwrap a key in ${table}; nothing was changed`);
    openers.add(opened.opener.fingerprint);
    return encrypt(current.key(wrapping), opened.key, row.bound);
  });
  await client.query(
    `update ${table} k set wrapped = n.wrapped, wrapped_by = $3 from unnest($1::${type}[], $2::bytea[]) as n(name, wrapped) where k.${name} = n.name`,
    [rows.map(({ bound }) => bound), rewrapped, current.fingerprint],
  );
  return rows.length;
}

export interface MasterKeyUse {
  /** Null: wrapped by a version that did not record it. */
  readonly fingerprint: string | null;
  readonly tenantKeys: number;
  readonly keptKeys: number;
  readonly isRetired: boolean;
}

/** How many keys each master key wraps. */
export async function masterKeyUses(owner: pg.Pool): Promise<MasterKeyUse[]> {
  const { rows } = await owner.query<MasterKeyUse>(
    `select fingerprint, sum(tenants)::int as "tenantKeys", sum(kept)::int as "keptKeys", bool_or(retired) as "isRetired"
       from (select wrapped_by as fingerprint, 1 as tenants, 0 as kept, false as retired from tenant_keys
             union all select wrapped_by, 0, 1, false from kept_keys
             union all select fingerprint, 0, 0, false from master_keys
             union all select fingerprint, 0, 0, true from retired_master_keys) as uses
      group by fingerprint order by fingerprint`,
  );
  return rows;
}
