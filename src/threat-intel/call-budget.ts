import type { TenantPool } from '../database/tenant-pool.ts';
import { callBudgets, type ScanService } from '../domain/threat-intel/services.ts';
import type { TenantId } from '../kernel/ids.ts';

/** The calls that a tenant's own account at a service still allows, counted once in the whole house. */
export class CallBudget {
  readonly #pool: TenantPool;

  constructor(pool: TenantPool) {
    this.#pool = pool;
  }

  /** Counts a call that is about to be made and answers 0, or how many milliseconds there will be none to make. */
  async take(tenantId: TenantId, service: ScanService): Promise<number> {
    const { perMinute, perDay } = callBudgets[service];
    const { rows } = await this.#pool.statement<{ wait: number }>(tenantId, 'select take_provider_call($1, $2, $3, $4) as wait', [service, perMinute, perDay]);
    return rows[0]!.wait;
  }
}
