import { notFound } from '../kernel/failure.ts';
import type { Query } from '../kernel/query.ts';
import type { AnyCollection } from './declaration.ts';
import type { AnyValues } from './fields.ts';
import { snakeCase } from './names.ts';
import { fromColumns, storedNames } from './record-columns.ts';

export function collectionQueries({ table, fields, tracked, versioned }: AnyCollection) {
  const names = [
    'id',
    ...storedNames(fields),
    ...Object.keys(tracked?.fields ?? {}),
    ...(versioned ? ['version'] : []),
    'createdBy',
    'createdAt',
    'updatedAt',
  ];
  const recordOf = (row: AnyValues) => fromColumns(names, row);

  /** Newest first, ties by id (OP-004). Names in the conditions come from declarations, values are bound. */
  const all: Query<AnyValues, AnyValues[]> = async (reads, filter) => {
    const given = Object.entries(filter).filter(([, value]) => value !== undefined);
    const where = ['tenant_id = $1', ...given.map(([name], index) => `"${snakeCase(name)}" = $${index + 2}`)].join(
      ' and ',
    );
    const rows = await reads.rows<AnyValues>(
      `select * from ${table} where ${where} order by created_at desc, id`,
      given.map(([, value]) => value),
    );
    return rows.map(recordOf);
  };

  const get: Query<{ id: string }, AnyValues> = async (reads, { id }) => {
    const row = await reads.one<AnyValues>(`select * from ${table} where tenant_id = $1 and id = $2`, [id]);
    return row ? recordOf(row) : notFound();
  };

  return { all, get };
}
