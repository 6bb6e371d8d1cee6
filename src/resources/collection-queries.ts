import { notFound } from '../kernel/failure.ts';
import type { Page, Query } from '../kernel/query.ts';
import type { AnyCollection } from './collection-events.ts';
import { fromColumns } from './collection-model.ts';
import { keptName, type AnyValues } from './fields.ts';
import { snakeCase } from './names.ts';

export interface ListQuestion<Filter> {
  readonly filter?: Filter;
  readonly page?: Page;
}

/** Newest first, ties by id (choice OP-004). */
const ORDER = 'order by created_at desc, id';

export function collectionQueries({ table, fields, tracked }: AnyCollection) {
  const names = [
    'id',
    ...Object.entries(fields).map(([name, field]) => keptName(name, field)),
    ...Object.keys(tracked?.fields ?? {}),
    'createdBy',
    'createdAt',
    'updatedAt',
  ];
  const recordOf = (row: AnyValues) => fromColumns(names, row);

  const all: Query<AnyValues, AnyValues[]> = async (reads, filter) => {
    const { where, parameters } = narrowed(filter);
    return (await reads.rows<AnyValues>(`select * from ${table} where tenant_id = $1${where} ${ORDER}`, parameters)).map(recordOf);
  };

  const list: Query<ListQuestion<AnyValues>, { records: AnyValues[]; total: number }> = async (reads, { filter = {}, page }) => {
    if (!page) {
      const records = (await all(reads, filter)) as AnyValues[];
      return { records, total: records.length };
    }
    const { where, parameters } = narrowed(filter);
    const [limit, offset] = [parameters.length + 2, parameters.length + 3];
    const [count, rows] = await Promise.all([
      reads.one<{ total: number }>(`select count(*)::int as total from ${table} where tenant_id = $1${where}`, parameters),
      reads.rows<AnyValues>(`select * from ${table} where tenant_id = $1${where} ${ORDER} limit $${limit} offset $${offset}`, [
        ...parameters,
        page.pageSize,
        (page.page - 1) * page.pageSize,
      ]),
    ]);
    return { records: rows.map(recordOf), total: count?.total ?? 0 };
  };

  const get: Query<{ id: string }, AnyValues> = async (reads, { id }) => {
    const row = await reads.one<AnyValues>(`select * from ${table} where tenant_id = $1 and id = $2`, [id]);
    return row ? recordOf(row) : notFound();
  };

  return { all, list, get };
}

/** Conditions for the values that are given. Names come from declarations, values are bound. */
function narrowed(filter: AnyValues): { where: string; parameters: unknown[] } {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return { where: given.map(([name], index) => ` and ${snakeCase(name)} = $${index + 2}`).join(''), parameters: given.map(([, value]) => value) };
}
