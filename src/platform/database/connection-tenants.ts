import type pg from 'pg';
import type { TenantId } from '../kernel/ids.ts';

const SET_TENANT = { name: 'set-tenant-for-session', text: `select set_config('castellan.tenant', $1, false)` };

/**
 * Which tenant each connection of a pool speaks for: row-level security shows and takes that tenant's rows alone. For pools
 * whose every statement names its tenant here first, so that what the one before left on a connection is never seen.
 */
export class ConnectionTenants {
  readonly #latest = new WeakMap<pg.PoolClient, { readonly tenantId: TenantId; readonly told: Promise<unknown> }>();

  /**
   * Sent before whatever comes next on the connection, unless it speaks for that tenant already. To be awaited with it: what was
   * sent behind a telling that failed, by whomever, was asked in another's name, and its answer is worth nothing.
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
