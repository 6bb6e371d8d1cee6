import { paginated, type KeysetPaginated, type Page, type TenantReads } from '../src/platform/kernel/query.ts';

/** A column that orders a list. Its values are compared as they are stored. */
export interface OrderColumn {
  /** As the statement names it, for example `a.created_at`. */
  readonly sql: string;
  readonly type: 'timestamptz' | 'uuid' | 'text' | 'integer' | 'bigint';
  readonly isDescending: boolean;
}

/** The order of a list, which tells every two of its rows apart, so that a page can begin after a row. */
export interface KeysetOrder<Row = never> {
  /** Recognizes marks of other lists. */
  readonly list: string;
  readonly columns: readonly OrderColumn[];
  readonly valuesOf: (row: Row) => readonly (string | number)[];
}

export const ascending = (sql: string, type: OrderColumn['type']): OrderColumn => ({ sql, type, isDescending: false });
export const descending = (sql: string, type: OrderColumn['type']): OrderColumn => ({ sql, type, isDescending: true });

export const orderBy = ({ columns }: Pick<KeysetOrder, 'columns'>): string =>
  `order by ${columns.map(({ sql, isDescending }) => `${sql}${isDescending ? ' desc' : ''}`).join(', ')}`;

/** The parts of a statement that select one page. Their parameters follow those of the filter. */
export interface PageClauses {
  /** `and …`, or nothing. A page after a row is a range of the index; a numbered page counts rows from the start. */
  readonly where: string;
  /** `order by … limit …`. One row more than the page, to see whether another page follows. */
  readonly tail: string;
  readonly parameters: readonly unknown[];
}

/** `first`: the number of the first free parameter. */
export function pageClauses(order: Pick<KeysetOrder, 'columns'>, first: number, page: Page): PageClauses {
  const { after, pageSize } = page;
  if (!after)
    return {
      where: '',
      tail: `${orderBy(order)} limit $${first} offset $${first + 1}`,
      parameters: [pageSize + 1, (page.page - 1) * pageSize],
    };
  return {
    where: `and ${beyond(order.columns, first)}`,
    tail: `${orderBy(order)} limit $${first + after.length}`,
    parameters: [...after, pageSize + 1],
  };
}

/** The rows after the values from `$first` on. The first condition is the range of the index. */
function beyond(columns: readonly OrderColumn[], first: number): string {
  const [column, ...others] = columns as [OrderColumn, ...OrderColumn[]];
  const value = `$${first}::${column.type}`;
  const strictly = `${column.sql} ${column.isDescending ? '<' : '>'} ${value}`;
  if (others.length === 0) return strictly;
  return `(${column.sql} ${column.isDescending ? '<=' : '>='} ${value} and (${strictly} or ${beyond(others, first + 1)}))`;
}

/** The statements of a list. Parameters of the filter begin at `$2`. */
export interface ListStatements<Row> {
  readonly order: KeysetOrder<Row>;
  /** Selects `total`. */
  readonly count: string;
  /** Counting stops here: a greater total is not known. */
  readonly counted?: number;
  /** Selects the rows of a page. */
  readonly page: (clauses: PageClauses) => string;
}

/** One page of a list, numbered or after a row, and the total of the filter. */
export async function listPage<Row extends object>(
  reads: TenantReads,
  { order, count, counted, page }: ListStatements<Row>,
  filter: readonly unknown[],
  asked: Page,
): Promise<{ rows: Row[] } & KeysetPaginated> {
  const clauses = pageClauses(order, filter.length + 2, asked);
  const [counts, found] = await Promise.all([
    reads.figures<{ total: number }>(count, filter),
    reads.rows<Row>(page(clauses), [...filter, ...clauses.parameters]),
  ]);
  const total = counts?.total ?? 0;
  return { ...keysetPage(order, found, total, asked), totalIsLowerBound: counted !== undefined && total >= counted };
}

/** The page of the rows that its clauses found, one more than the page included, with an exact total. */
export function keysetPage<Row extends object>(
  order: KeysetOrder<Row>,
  found: readonly Row[],
  total: number,
  asked: Page,
): { rows: Row[] } & KeysetPaginated {
  const rows = found.slice(0, asked.pageSize);
  const last = found.length > asked.pageSize ? rows.at(-1) : undefined;
  return {
    rows,
    ...paginated(total, asked),
    totalIsLowerBound: false,
    next: last ? order.valuesOf(last).map(String) : null,
  };
}
