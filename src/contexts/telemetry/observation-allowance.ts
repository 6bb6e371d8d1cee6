import { LRUCache } from 'lru-cache';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { ordinaryDays } from '../../platform/kernel/token-bucket.ts';
import type { ArrivalBudgets } from '../../platform/arrivals/arrival-budgets.ts';

/** Observations of one browser on an ordinary day: one every second and a half of eight hours. */
export const OBSERVATION_BUDGET = ordinaryDays(20_000);
/** What is fetched at once, so that small batches do not cost a statement each. */
const FETCHED = 1_000;
/** Devices whose rest is kept here; what is left of others goes back. */
const MAX_KEPT = 20_000;

interface Rest {
  readonly tenantId: TenantId;
  readonly deviceId: string;
  readonly left: number;
}

/**
 * The observations that a device may still report, by arrival. A process fetches some more than it needs and spends the rest of
 * them in memory. What it holds when it ends abruptly is lost: a fraction of a percent of a device's budget.
 */
export class ObservationAllowance {
  readonly #budgets: Pick<ArrivalBudgets, 'take'>;
  readonly #kept = new LRUCache<string, Rest>({
    max: MAX_KEPT,
    dispose: (rest, _key, reason) => {
      if (reason === 'evict') void this.#fetch(rest.tenantId, rest.deviceId, -rest.left).catch(() => undefined);
    },
  });

  constructor(budgets: Pick<ArrivalBudgets, 'take'>) {
    this.#budgets = budgets;
  }

  /** Takes so many and returns 0; or takes nothing, and returns the milliseconds until there are as many. */
  async take(tenantId: TenantId, deviceId: string, amount: number): Promise<number> {
    const left = this.#left(tenantId, deviceId);
    if (left >= amount) {
      this.#keep(tenantId, deviceId, left - amount);
      return 0;
    }
    // What is missing may be all that there is: more is fetched only where more is there.
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

  /** What was taken and not needed: copies of what had been reported before. */
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
