import { paginated, type Page, type Paginated, type TenantReads } from '../src/platform/kernel/query.ts';

/** A list without an order that tells its rows apart for good, for example by counts. */
interface NumberedList<Row> {
  readonly body: string;
  /** Of the rows of `body`, as `p`. */
  readonly order: string;
  /** Phantom: carries the type of the rows. */
  readonly row?: Row;
}

/** One page by its number. The total is exact. */
export async function numberedPage<Row extends object>(
  reads: TenantReads,
  { body, order }: NumberedList<Row>,
  filter: readonly unknown[],
  page: Page,
): Promise<{ rows: Row[] } & Paginated> {
  const [limit, offset] = [filter.length + 2, filter.length + 3];
  const sql = `
    select p.*, count(*) over ()::int as counted from (${body}) p
     order by ${order} limit $${limit} offset $${offset}`;
  const found = await reads.rows<Row & { counted?: number }>(sql, [
    ...filter,
    page.pageSize,
    (page.page - 1) * page.pageSize,
  ]);
  const total = found[0]?.counted ?? (page.page === 1 ? 0 : await totalOf(reads, body, filter));
  for (const row of found) delete row.counted;
  return { rows: found, ...paginated(total, page) };
}

const totalOf = async (reads: TenantReads, body: string, filter: readonly unknown[]): Promise<number> =>
  (await reads.figures<{ total: number }>(`select count(*)::int as total from (${body}) p`, filter))!.total;
