import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BudgetRequest } from '../../../src/platform/arrivals/arrival-budgets.ts';
import { ObservationAllowance } from '../../../src/contexts/telemetry/observation-allowance.ts';
import { asTenantId, type TenantId } from '../../../src/platform/kernel/ids.ts';

const TENANT = asTenantId(randomUUID());
/** More devices than a process keeps a reserve for. */
const FLEET = 20_100;

/** Budgets that always have enough, and record what was taken from each. */
class EndlessBudgets {
  readonly taken = new Map<string, number>();

  take(_tenantId: TenantId, wanted: readonly BudgetRequest[]): Promise<number> {
    for (const { name, amount } of wanted) this.taken.set(name, (this.taken.get(name) ?? 0) + amount);
    return Promise.resolve(0);
  }
}

describe('the allowance of a fleet', () => {
  it('returns the reserve of the device that has been silent longest, and keeps that of an active one', async () => {
    const budgets = new EndlessBudgets();
    const allowance = new ObservationAllowance(budgets);
    await allowance.take(TENANT, 'silent', 10);
    await allowance.take(TENANT, 'busy', 10);
    const fetched = budgets.taken.get('observations/busy');
    for (let n = 0; n < FLEET; n += 1) {
      if (n % 1_000 === 0) await allowance.take(TENANT, 'busy', 1);
      await allowance.take(TENANT, `device ${n}`, 10);
    }
    expect(budgets.taken.get('observations/silent')).toBe(10);
    expect(budgets.taken.get('observations/busy')).toBe(fetched);
  });
});
