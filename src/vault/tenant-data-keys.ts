import type { TenantId } from '../kernel/ids.ts';
import { newKey, open, seal, type Keyring } from './keyring.ts';
import type { TenantPool } from '../database/tenant-pool.ts';

/** One data key a tenant, wrapped by a key derived from MASTER_KEY. Made on first use; racing makers agree on one. */
export class TenantDataKeys {
  readonly #pool: TenantPool;
  readonly #wrappingKey: Buffer;
  readonly #known = new Map<TenantId, Buffer>();

  constructor(pool: TenantPool, keyring: Keyring) {
    this.#pool = pool;
    this.#wrappingKey = keyring.key('tenant-key-wrapping');
  }

  async get(tenantId: TenantId): Promise<Buffer> {
    const known = this.#known.get(tenantId);
    if (known) return known;
    const wrapped = seal(this.#wrappingKey, newKey(), tenantId);
    const row = await this.#pool.transaction(tenantId, async (client) => {
      await client.query('insert into tenant_keys (tenant_id, wrapped) values ($1, $2) on conflict do nothing', [tenantId, wrapped]);
      const { rows } = await client.query<{ wrapped: Buffer }>('select wrapped from tenant_keys where tenant_id = $1', [tenantId]);
      return rows[0]!;
    });
    const key = open(this.#wrappingKey, row.wrapped, tenantId);
    this.#known.set(tenantId, key);
    return key;
  }
}
