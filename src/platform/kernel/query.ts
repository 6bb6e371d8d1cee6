import type { Failure } from './failure.ts';
import type { TenantId } from './ids.ts';

/**
 * The read side as one tenant sees it. Row-level security is bound to the tenant for every statement, and `$1` is always
 * the tenant's id: a query names it in its `where`, parameters start at `$2`.
 */
export interface TenantReads {
  readonly tenantId: TenantId;
  rows<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The only row, or undefined. For what an index finds at once: look-ups share a connection, and wait for each other on it. */
  one<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row | undefined>;
  /** The only row of counts and sums over many: whoever looks something up meanwhile does not wait for them. */
  figures<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row | undefined>;
}

/** A question that a dashboard asks, answered from the tables that projections declare. */
export type Query<Input, Answer> = (reads: TenantReads, input: Input) => Promise<Answer | Failure>;

/** The page that a list route was asked for, already clamped (page >= 1, 1 <= size <= 100). */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
}

export interface Paginated {
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
}

export const paginated = (total: number, { page, pageSize }: Page): Paginated => ({
  total,
  page,
  pageSize,
  totalPages: Math.ceil(total / pageSize),
});
