import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';

const SET_TENANT = { name: 'set-tenant-for-session', text: `select set_config('castellan.tenant', $1, false)` };

/**
 * The tenant that is set on each connection of a pool. Row-level security allows only that tenant's rows. For pools
 * in which every statement calls `setTenant` first, so that no statement runs under an earlier tenant.
 */
export class ConnectionTenants {
  readonly #latest = new WeakMap<pg.PoolClient, { readonly tenantId: TenantId; readonly told: Promise<unknown> }>();

  /**
   * Sets the tenant before the next statement of the connection, unless it is set already. Await this together with
   * the query. If setting the tenant failed, discard results of everything queued behind it: they ran under another
   * tenant.
   */
  setTenant(client: pg.PoolClient, tenantId: TenantId): Promise<unknown> {
    const latest = this.#latest.get(client);
    if (latest?.tenantId === tenantId) return latest.told;
    const told = client.query({ ...SET_TENANT, values: [tenantId] });
    const telling = { tenantId, told };
    this.#latest.set(client, telling);
    told.catch(() => this.#latest.get(client) === telling && this.#latest.delete(client));
    return told;
  }
}
