import type { TenantPool } from '../database/tenant-pool.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { BucketSize } from '../kernel/token-bucket.ts';

/** A budget of a tenant, or of one of its devices, and what is wanted of it. Less than nothing gives back. */
export interface BudgetRequest {
  readonly name: string;
  readonly size: BucketSize;
  readonly amount: number;
}

/** Counts what arrives, for every process in one place: exact however many ask at once. */
export class ArrivalBudgets {
  readonly #pool: Pick<TenantPool, 'statement'>;

  constructor(pool: Pick<TenantPool, 'statement'>) {
    this.#pool = pool;
  }

  /** Takes from all of the budgets and returns 0; or takes nothing, and returns the milliseconds until all of them have as much. */
  async take(tenantId: TenantId, wanted: readonly BudgetRequest[]): Promise<number> {
    const columns = [
      wanted.map(({ name }) => name),
      wanted.map(({ size }) => size.capacity),
      wanted.map(({ size }) => size.perDay),
      wanted.map(({ amount }) => amount),
    ];
    const { rows } = await this.#pool.statement<{ wait: number }>(
      tenantId,
      'select take_arrivals($1, $2, $3, $4, $5) as wait',
      columns,
      'take-arrivals',
    );
    return rows[0]!.wait;
  }

  /** After something went wrong: what was taken is there again. */
  async giveBack(tenantId: TenantId, wanted: readonly BudgetRequest[]): Promise<void> {
    await this.take(
      tenantId,
      wanted.map((one) => ({ ...one, amount: -one.amount })),
    );
  }
}
