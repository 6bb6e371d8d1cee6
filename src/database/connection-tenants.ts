import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';

const SET_TENANT = { name: 'set-tenant-for-session', text: `select set_config('castellan.tenant', $1, false)` };

/**
 * Which tenant each connection of a pool speaks for: row-level security shows and takes that tenant's rows alone. For pools
 * whose every statement names its tenant here first, so that what the one before left on a connection is never seen.
 */
export class ConnectionTenants {
  readonly #tenantOf = new WeakMap<pg.PoolClient, TenantId>();

  /** Sent before whatever comes next on the connection, unless it speaks for that tenant already; to be awaited with it. */
  async speakFor(client: pg.PoolClient, tenantId: TenantId): Promise<void> {
    if (this.#tenantOf.get(client) === tenantId) return;
    this.#tenantOf.set(client, tenantId);
    try {
      await client.query({ ...SET_TENANT, values: [tenantId] });
    } catch (error) {
      this.#tenantOf.delete(client);
      throw error;
    }
  }
}
