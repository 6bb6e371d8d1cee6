import type { Failure } from './failure.ts';
import type { TenantId } from './ids.ts';

/**
 * The read side of one tenant. Row-level security binds every statement to the tenant. `$1` is always the tenant's id:
 * a query must use it in its `where`. Its own parameters start at `$2`.
 */
export interface TenantReads {
  readonly tenantId: TenantId;
  rows<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Returns the only row, or undefined. For fast indexed look-ups only: they share a connection and queue on it. */
  one<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row | undefined>;
  /**
   * Returns one row of counts and sums over many rows. Does not use the shared connection, so look-ups do not wait for
   * it.
   */
  figures<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row | undefined>;
}

/** A question to the read models of one tenant. */
export type Query<Input, Answer> = (reads: TenantReads, input: Input) => Promise<Answer | Failure>;

/** The requested page of a list, already clamped (page >= 1, 1 <= size <= the list's limit). */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
  /** The values that order the last row of the page before. The page begins after it, wherever `page` would begin. */
  readonly after?: readonly string[] | undefined;
}

export interface Paginated {
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
}

/** A page of a list whose pages can also begin after a row. */
export interface KeysetPaginated extends Paginated {
  /** True: there are at least `total` rows, because counting has a limit. */
  readonly totalIsLowerBound: boolean;
  /** The values that order the last row of this page; null: no row follows. */
  readonly next: readonly string[] | null;
}

export const paginated = (total: number, { page, pageSize }: Page): Paginated => ({
  total,
  page,
  pageSize,
  totalPages: Math.ceil(total / pageSize),
});
