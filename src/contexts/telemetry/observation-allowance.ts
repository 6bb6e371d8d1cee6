import { LRUCache } from 'lru-cache';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { ordinaryDays } from '../../platform/kernel/token-bucket.ts';
import type { ArrivalBudgets } from '../../platform/arrivals/arrival-budgets.ts';

/** Observations per browser on an ordinary day: one every 1.5 seconds for eight hours. */
export const OBSERVATION_BUDGET = ordinaryDays(20_000);
/** Fetched in advance, so that small batches do not cost one statement each. */
const FETCHED = 1_000;
/** Devices whose remainder is cached; evicted remainders are returned. */
const MAX_KEPT = 20_000;

interface Rest {
  readonly tenantId: TenantId;
  readonly deviceId: string;
  readonly left: number;
}

/**
 * The remaining observations per device, by arrival time. A process fetches more than it needs and spends the rest from
 * memory. If it crashes, the rest is lost: a fraction of a percent of a device's budget.
 */
export class ObservationAllowance {
  readonly #budgets: Pick<ArrivalBudgets, 'take'>;
  readonly #kept = new LRUCache<string, Rest>({
    // `max` would allocate room for all of them at once.
    maxSize: MAX_KEPT,
    sizeCalculation: () => 1,
    dispose: (rest, _key, reason) => {
      if (reason === 'evict') void this.#fetch(rest.tenantId, rest.deviceId, -rest.left).catch(() => undefined);
    },
  });

  constructor(budgets: Pick<ArrivalBudgets, 'take'>) {
    this.#budgets = budgets;
  }

  /** Takes `amount` and returns 0. If less is available, takes nothing and returns the milliseconds until it is. */
  async take(tenantId: TenantId, deviceId: string, amount: number): Promise<number> {
    const left = this.#left(tenantId, deviceId);
    if (left >= amount) {
      this.#keep(tenantId, deviceId, left - amount);
      return 0;
    }
    // Fetch in advance only if that much is available; otherwise fetch just the missing amount.
    const missing = amount - left;
    this.#keep(tenantId, deviceId, 0);
    if ((await this.#fetch(tenantId, deviceId, missing + FETCHED)) === 0) this.giveBack(tenantId, deviceId, FETCHED);
    else {
      const wait = await this.#fetch(tenantId, deviceId, missing);
      if (wait > 0) {
        this.giveBack(tenantId, deviceId, left);
        return wait;
      }
    }
    return 0;
  }

  /** Returns an amount that was not needed: copies of earlier observations. */
  giveBack(tenantId: TenantId, deviceId: string, amount: number): void {
    if (amount > 0) this.#keep(tenantId, deviceId, this.#left(tenantId, deviceId) + amount);
  }

  #left(tenantId: TenantId, deviceId: string): number {
    return this.#kept.get(`${tenantId}/${deviceId}`)?.left ?? 0;
  }

  #keep(tenantId: TenantId, deviceId: string, left: number): void {
    const key = `${tenantId}/${deviceId}`;
    if (left > 0) this.#kept.set(key, { tenantId, deviceId, left });
    else this.#kept.delete(key);
  }

  #fetch(tenantId: TenantId, deviceId: string, amount: number): Promise<number> {
    return this.#budgets.take(tenantId, [{ name: `observations/${deviceId}`, size: OBSERVATION_BUDGET, amount }]);
  }
}
