import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

/** Per tenant. Larger responses are not stored but built again, from what the first attempt appended. */
const MAX_KEYS = 20_000;
const MAX_STORED_BYTES = 64 * 1024 * 1024;
const LARGEST_BODY = 512 * 1024;
/** Budgets are counted this often; between two counts a tenant may exceed them a little. */
const COUNTED_EVERY_MS = 5_000;

interface Usage {
  readonly countedAt: number;
  readonly keys: number;
  readonly bytes: number;
}

/** How many idempotency keys and bytes of responses each tenant has stored, within its budget. */
export class IdempotencyUsage {
  readonly #pool: TenantPool;
  readonly #known = new Map<TenantId, Usage>();

  constructor(pool: TenantPool) {
    this.#pool = pool;
  }

  /** False if the tenant has as many keys as it may have. */
  async leavesRoomForKey(tenantId: TenantId): Promise<boolean> {
    return (await this.#usageOf(tenantId)).keys < MAX_KEYS;
  }

  /** False for a response that is too large, or that exceeds what is left for the tenant. */
  async leavesRoomFor(tenantId: TenantId, body: string): Promise<boolean> {
    const { bytes } = await this.#usageOf(tenantId);
    return body.length <= LARGEST_BODY && bytes + body.length <= MAX_STORED_BYTES;
  }

  async #usageOf(tenantId: TenantId): Promise<Usage> {
    const known = this.#known.get(tenantId);
    if (known && known.countedAt > Date.now() - COUNTED_EVERY_MS) return known;
    const sql =
      'select count(*)::int as keys, coalesce(sum(length(sealed_body)), 0)::float8 as bytes from idempotent_answers where tenant_id = $1';
    const { rows } = await this.#pool.statement<{ keys: number; bytes: number }>(tenantId, sql, []);
    const usage = { countedAt: Date.now(), ...rows[0]! };
    // Cleared all at once, because a map of every tenant that ever used a key would never shrink.
    if (this.#known.size > 1_000) this.#known.clear();
    this.#known.set(tenantId, usage);
    return usage;
  }
}
