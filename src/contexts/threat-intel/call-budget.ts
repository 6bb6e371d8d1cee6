import { ArrivalBudgets } from '../../platform/arrivals/arrival-budgets.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import { callBudgets, type ScanService } from './domain/services.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** Lookups per browser and day: a tenth of what the smaller service allows its tenant. */
const OF_A_DEVICE = { capacity: 50, perDay: 50 };
/** Domains per tenant that may wait for a budget: as many as are looked up in a day. */
const WAITING = { capacity: 500, perDay: 500 };
/**
 * Domains that no browser visited leave this part of a day's calls to visited ones, and are retried after this time.
 */
const KEPT_FOR_VISITED = 0.5;
const UNVISITED_AGAIN_MS = 15 * 60_000;

/**
 * The remaining calls of a tenant's own account at a service, counted across all processes, and each device's share.
 */
export class CallBudget {
  readonly #pool: TenantPool;
  readonly #arrivals: ArrivalBudgets;

  constructor(pool: TenantPool) {
    this.#pool = pool;
    this.#arrivals = new ArrivalBudgets(pool);
  }

  /** Counts a call that is about to be made and returns 0, or the milliseconds until a call is allowed. */
  async take(tenantId: TenantId, service: ScanService, isVisited = true): Promise<number> {
    const { perMinute, perDay } = callBudgets[service];
    const allowed = isVisited ? perDay : Math.floor(perDay * (1 - KEPT_FOR_VISITED));
    const { rows } = await this.#pool.statement<{ wait: number }>(
      tenantId,
      'select take_provider_call($1, $2, $3, $4) as wait',
      [service, perMinute, allowed],
    );
    return isVisited ? rows[0]!.wait : Math.min(rows[0]!.wait, UNVISITED_AGAIN_MS);
  }

  /** Counts a lookup for a device and returns 0, or the milliseconds until the next is allowed. */
  takeShare(tenantId: TenantId, deviceId: string): Promise<number> {
    return this.#arrivals.take(tenantId, [{ name: `look-ups/${deviceId}`, size: OF_A_DEVICE, amount: 1 }]);
  }

  /** Whether one more domain may wait. The queue is bounded per device and per tenant. */
  async mayWait(tenantId: TenantId, deviceId: string): Promise<boolean> {
    const wanted = [
      { name: 'waiting-look-ups', size: WAITING, amount: 1 },
      { name: `waiting-look-ups/${deviceId}`, size: OF_A_DEVICE, amount: 1 },
    ];
    return (await this.#arrivals.take(tenantId, wanted)) === 0;
  }
}
