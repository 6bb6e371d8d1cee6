import { ArrivalBudgets } from '../../platform/arrivals/arrival-budgets.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import { callBudgets, type ScanService } from './domain/services.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** Look-ups that one browser causes in a day: a tenth of what the smaller service allows its tenant. */
const OF_A_DEVICE = { capacity: 50, perDay: 50 };
/** Domains that wait for a budget, of a tenant: as many as are looked up in a day. */
const WAITING = { capacity: 500, perDay: 500 };
/** Domains that nobody was seen on leave this part of a day's calls to the others, and are tried again this soon. */
const KEPT_FOR_VISITED = 0.5;
const UNVISITED_AGAIN_MS = 15 * 60_000;

/** The calls that a tenant's own account at a service still allows, counted once for all processes, and whose they are. */
export class CallBudget {
  readonly #pool: TenantPool;
  readonly #arrivals: ArrivalBudgets;

  constructor(pool: TenantPool) {
    this.#pool = pool;
    this.#arrivals = new ArrivalBudgets(pool);
  }

  /** Counts a call that is about to be made and answers 0, or how many milliseconds there will be none to make. */
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

  /** Counts a look-up for a device and returns 0, or the milliseconds until it may cause another. */
  takeShare(tenantId: TenantId, deviceId: string): Promise<number> {
    return this.#arrivals.take(tenantId, [{ name: `look-ups/${deviceId}`, size: OF_A_DEVICE, amount: 1 }]);
  }

  /** Whether one more domain may wait: a queue is bounded for each device and for the tenant. */
  async mayWait(tenantId: TenantId, deviceId: string): Promise<boolean> {
    const wanted = [
      { name: 'waiting-look-ups', size: WAITING, amount: 1 },
      { name: `waiting-look-ups/${deviceId}`, size: OF_A_DEVICE, amount: 1 },
    ];
    return (await this.#arrivals.take(tenantId, wanted)) === 0;
  }
}
