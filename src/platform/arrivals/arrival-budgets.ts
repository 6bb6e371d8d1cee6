import type { TenantPool } from '../database/tenant-pool.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { BucketSize } from '../kernel/token-bucket.ts';

/** An amount to take from a budget of a tenant or of one of its devices. A negative amount gives back. */
export interface BudgetRequest {
  readonly name: string;
  readonly size: BucketSize;
  readonly amount: number;
}

/** Budgets for incoming data, kept in the database. They are exact across processes and concurrent calls. */
export class ArrivalBudgets {
  readonly #pool: Pick<TenantPool, 'statement'>;

  constructor(pool: Pick<TenantPool, 'statement'>) {
    this.#pool = pool;
  }

  /**
   * Takes from all budgets and returns 0. If one lacks the amount, takes nothing and returns the milliseconds until all
   * have it.
   */
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

  /** Returns the taken amounts, after a failure. */
  async giveBack(tenantId: TenantId, wanted: readonly BudgetRequest[]): Promise<void> {
    await this.take(
      tenantId,
      wanted.map((one) => ({ ...one, amount: -one.amount })),
    );
  }
}
