import pg from 'pg';
import type { TenantPool } from '../database/tenant-pool.ts';
import type { TenantId } from '../kernel/ids.ts';
import { newKey, encrypt } from './keyring.ts';
import { unwrapWith, TENANT_KEY_WRAPPING, WrongMasterKey, type Keyrings, type Wrapped } from './keyrings.ts';

const FIND = 'select wrapped, wrapped_by from tenant_keys where tenant_id = $1';
const MAKE =
  'insert into tenant_keys (tenant_id, wrapped, wrapped_by) values ($1, $2, $3) on conflict (tenant_id) do nothing';

/** SQLSTATE foreign_key_violation. */
const NOT_THERE = '23503';

/**
 * One data key per tenant, wrapped by a key derived from MASTER_KEY. Created on first use; concurrent creators end up
 * with the same key.
 */
export class TenantDataKeys {
  readonly #pool: TenantPool;
  readonly #keyrings: Keyrings;
  readonly #known = new Map<TenantId, Buffer>();
  #foundUnknownMasterKey = false;

  constructor(pool: TenantPool, keyrings: Keyrings) {
    this.#pool = pool;
    this.#keyrings = keyrings;
  }

  /** True if this process could not unwrap a tenant's key: another process has a master key that this one lacks. */
  get foundUnknownMasterKey(): boolean {
    return this.#foundUnknownMasterKey;
  }

  /** Throws `WrongMasterKey` if another master key has replaced this process's own. */
  async get(tenantId: TenantId): Promise<Buffer> {
    const known = this.#known.get(tenantId);
    if (known) return known;
    const row = (await this.#find(tenantId)) ?? (await this.#make(tenantId));
    const opened = unwrapWith(this.#keyrings, TENANT_KEY_WRAPPING, row, tenantId);
    if (!opened) {
      this.#foundUnknownMasterKey = true;
      throw new WrongMasterKey("it does not unwrap a tenant's key");
    }
    this.#known.set(tenantId, opened.key);
    return opened.key;
  }

  async #find(tenantId: TenantId): Promise<Wrapped | undefined> {
    return (await this.#pool.statement<Wrapped>(tenantId, FIND, [])).rows[0];
  }

  async #make(tenantId: TenantId): Promise<Wrapped> {
    const { current } = this.#keyrings;
    try {
      await this.#pool.statement(tenantId, MAKE, [
        encrypt(current.key(TENANT_KEY_WRAPPING), newKey(), tenantId),
        current.fingerprint,
      ]);
    } catch (error) {
      // This master key was retired meanwhile. A key that it wrapped now could not be unwrapped later.
      if (error instanceof pg.DatabaseError && error.code === NOT_THERE) throw new WrongMasterKey('it was retired');
      throw error;
    }
    return (await this.#find(tenantId))!;
  }
}
