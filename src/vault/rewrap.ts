import type pg from 'pg';
import { transaction } from '../database/transaction.ts';
import { seal } from './keyring.ts';
import { KEPT_KEY_WRAPPING, openWith, TENANT_KEY_WRAPPING, WrongMasterKey, type Keyrings, type Wrapped } from './keyrings.ts';

/** What master keys wrap: a table of keys, each bound to its name. */
interface WrappedKeys {
  readonly table: 'tenant_keys' | 'kept_keys';
  readonly name: 'tenant_id' | 'purpose';
  readonly type: 'uuid' | 'text';
  readonly wrapping: string;
}
const WRAPPED: readonly WrappedKeys[] = [
  { table: 'tenant_keys', name: 'tenant_id', type: 'uuid', wrapping: TENANT_KEY_WRAPPING },
  { table: 'kept_keys', name: 'purpose', type: 'text', wrapping: KEPT_KEY_WRAPPING },
];

export interface Rewrapped {
  readonly tenantKeys: number;
  readonly keptKeys: number;
  /** Fingerprints of the master keys that open nothing any more. */
  readonly retired: readonly string[];
}

/**
 * Wraps every key with the current master key, and retires all others: in one transaction, which tenants' first keys wait for. Throws
 * `WrongMasterKey`, changing nothing, when some key opens with neither master key at hand.
 */
export async function rewrap(owner: pg.Pool, keyrings: Keyrings): Promise<Rewrapped> {
  return transaction(owner, async (client) => {
    await client.query('lock table tenant_keys, kept_keys in share row exclusive mode');
    const [tenantKeys, keptKeys] = [await rewrapTable(client, keyrings, WRAPPED[0]!), await rewrapTable(client, keyrings, WRAPPED[1]!)];
    const { rows } = await client.query<{ fingerprint: string }>(RETIRE, [keyrings.current.fingerprint]);
    return { tenantKeys, keptKeys, retired: rows.map(({ fingerprint }) => fingerprint) };
  });
}

const RETIRE = `
  with gone as (delete from master_keys where fingerprint <> $1 returning fingerprint)
  insert into retired_master_keys (fingerprint) select fingerprint from gone on conflict do nothing returning fingerprint`;

async function rewrapTable(client: pg.PoolClient, keyrings: Keyrings, { table, name, type, wrapping }: WrappedKeys): Promise<number> {
  const { current } = keyrings;
  const { rows } = await client.query<Wrapped & { bound: string }>(`select ${name}::text as bound, wrapped, wrapped_by from ${table} where wrapped_by is distinct from $1`, [current.fingerprint]);
  const anew = rows.map((row) => {
    const key = openWith(keyrings, wrapping, row, row.bound);
    if (!key) throw new WrongMasterKey(`a key in ${table} does not open, and nothing was changed`);
    return seal(current.key(wrapping), key, row.bound);
  });
  await client.query(
    `update ${table} k set wrapped = n.wrapped, wrapped_by = $3 from unnest($1::${type}[], $2::bytea[]) as n(name, wrapped) where k.${name} = n.name`,
    [rows.map(({ bound }) => bound), anew, current.fingerprint],
  );
  return rows.length;
}

export interface MasterKeyUse {
  /** Null: by a version that did not say. */
  readonly fingerprint: string | null;
  readonly tenantKeys: number;
  readonly keptKeys: number;
}

/** How many keys each master key wraps. */
export async function masterKeyUses(owner: pg.Pool): Promise<MasterKeyUse[]> {
  const { rows } = await owner.query<MasterKeyUse>(
    `select fingerprint, sum(tenants)::int as "tenantKeys", sum(kept)::int as "keptKeys"
       from (select wrapped_by as fingerprint, 1 as tenants, 0 as kept from tenant_keys
             union all select wrapped_by, 0, 1 from kept_keys
             union all select fingerprint, 0, 0 from master_keys) as uses
      group by fingerprint order by fingerprint`,
  );
  return rows;
}
