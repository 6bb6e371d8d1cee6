import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';

const SET_TENANT = { name: 'set-tenant-for-session', text: `select set_config('castellan.tenant', $1, false)` };

/**
 * The tenant that is set on each connection of a pool. Row-level security allows only that tenant's rows. For pools
 * in which every statement calls `setTenant` first, so that no statement runs under an earlier tenant.
 */
export class ConnectionTenants {
  readonly #latest = new WeakMap<pg.PoolClient, { readonly tenantId: TenantId; readonly isSet: Promise<unknown> }>();

  /**
   * Sets the tenant before the next statement of the connection, unless it is set already. Await this together with
   * the query. If setting the tenant failed, discard results of everything queued behind it: they ran under another
   * tenant.
   */
  setTenant(client: pg.PoolClient, tenantId: TenantId): Promise<unknown> {
    const latest = this.#latest.get(client);
    if (latest?.tenantId === tenantId) return latest.isSet;
    const isSet = client.query({ ...SET_TENANT, values: [tenantId] });
    const setting = { tenantId, isSet };
    this.#latest.set(client, setting);
    isSet.catch(() => this.#latest.get(client) === setting && this.#latest.delete(client));
    return isSet;
  }
}
