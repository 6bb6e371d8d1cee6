import { createHash } from 'node:crypto';
import { attributePath, MalformedExpression, parseFilter, type Filter } from '../../src/contexts/scim/domain/filter.ts';
import { FailureError, invalid } from '../../src/platform/kernel/failure.ts';
import { isUuid } from '../../src/platform/kernel/ids.ts';
import type { TenantReads } from '../../src/platform/kernel/query.ts';
import { FilterCompiler } from './filter-sql.ts';
import { namedRows } from './named-rows.ts';
import type { ScimTable } from './scim-table.ts';

export interface ScimListRequest {
  readonly filter: string | undefined;
  readonly sortBy: string | undefined;
  readonly descending: boolean;
  /** From 1. */
  readonly startIndex: number;
  readonly count: number;
  /** RFC 9865. Empty: the first page; undefined: pages by index. */
  readonly cursor: string | undefined;
}

export interface ScimPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** Of a page by cursor; undefined: no row follows. */
  readonly nextCursor: string | undefined;
}

/** SQL of a list: its rows have `created_at` and an id, which never change. `$1` is the tenant. */
export interface ScimListSource {
  readonly table: ScimTable;
  /** The table with its alias, which the SQL of `table` uses. */
  readonly from: string;
  readonly alias: string;
  /** Which rows are the client's. */
  readonly own: string;
  readonly created: string;
  readonly id: string;
  readonly parameters: readonly unknown[];
}

interface ListedRow {
  readonly created_at: string;
  readonly listed_id: string;
}

/**
 * A page of resources. Without `sortBy` in the order of creation: a user who is created while a client reads the pages
 * comes behind them, so nobody is shown twice or left out.
 */
export async function scimPage<Row extends object>(
  reads: TenantReads,
  source: ScimListSource,
  request: ScimListRequest,
): Promise<ScimPage<Row>> {
  const parameters: unknown[] = [reads.tenantId, ...source.parameters];
  const compiler = new FilterCompiler(source.table, parameters);
  const filter = request.filter === undefined ? undefined : parseFilter(request.filter);
  const matching = matchingSql(source, compiler, filter, parameters);
  const counted = [...parameters];
  const order = orderOf(source, compiler, request);
  const count = async () =>
    (await reads.figures<{ total: number }>(matching('count(*)::int as total'), counted.slice(1)))!.total;
  if (request.count === 0) return { rows: [], total: await count(), nextCursor: undefined };

  const list = listOf(source, request);
  const after = request.cursor ? readCursor(request.cursor, list) : undefined;
  const behind = after ? behindSql(source, after, parameters) : '';
  const isByCursor = request.cursor !== undefined;
  const offset = isByCursor ? 0 : request.startIndex - 1;
  // One more than the page, to know whether another follows.
  parameters.push(request.count + 1, offset);
  const page = `order by ${order} limit $${parameters.length - 1} offset $${parameters.length}`;
  const sql = `${matching(`${source.alias}.*, ${source.id} as listed_id`)} ${behind} ${page}`;
  const found = await reads.rows<Row & ListedRow>(sql, parameters.slice(1));
  const rows = found.slice(0, request.count);
  const isWhole = !after && found.length <= request.count && (rows.length > 0 || offset === 0);
  const total = isWhole ? offset + rows.length : await count();
  const last = rows.at(-1);
  const nextCursor = isByCursor && found.length > request.count && last ? cursorOf(list, last) : undefined;
  return { rows, total, nextCursor };
}

interface Place {
  readonly createdAt: string;
  readonly id: string;
}

/** The rows behind a cursor. Adds to `parameters`. */
function behindSql({ created, id }: ScimListSource, after: Place, parameters: unknown[]): string {
  parameters.push(after.createdAt, after.id);
  return ` and (${created}, ${id}) > ($${parameters.length - 1}::timestamptz, $${parameters.length}::uuid)`;
}

/**
 * A statement that selects from the rows that match. Rows that the filter names are found by their indexes first, each in
 * a step of its own: without statistics the planner would rather read all rows of the client.
 */
function matchingSql(
  { table, from, own, alias }: ScimListSource,
  compiler: FilterCompiler,
  filter: Filter | undefined,
  parameters: unknown[],
): (columns: string) => string {
  const where = filter ? `${own} and ${compiler.compile(filter)}` : own;
  const named = filter && namedRows(table, filter, parameters);
  return named === undefined
    ? (columns) => `select ${columns} from ${from} where ${where}`
    : (columns) =>
        `with ${alias} as materialized (select ${alias}.* from ${named} as ${alias} where ${where})
         select ${columns} from ${alias} where true`;
}

function orderOf({ created, id }: ScimListSource, compiler: FilterCompiler, request: ScimListRequest): string {
  const { sortBy, descending, cursor } = request;
  if (sortBy === undefined) return `${created}, ${id}`;
  if (cursor !== undefined)
    throw new FailureError(invalid('sortBy', 'cannot be combined with a cursor', 'scim_invalid_value'));
  try {
    // RFC 7644 §3.4.2.3: resources without a value are last in ascending order, and first in descending order.
    const [way, nulls] = descending ? ['desc', 'first'] : ['asc', 'last'];
    return `${compiler.orderOf(attributePath(sortBy))} ${way} nulls ${nulls}, ${created}, ${id}`;
  } catch (error) {
    if (error instanceof MalformedExpression)
      throw new FailureError(invalid('sortBy', error.message, 'scim_invalid_value'));
    throw error;
  }
}

/** A cursor belongs to one list of one client: with another filter, type of resource or client it is refused. */
const listOf = ({ table, parameters }: ScimListSource, { filter = '' }: ScimListRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([table.type.name, parameters, filter]))
    .digest('base64url')
    .slice(0, 16);

const cursorOf = (list: string, { created_at, listed_id }: ListedRow): string =>
  Buffer.from(JSON.stringify([list, created_at, listed_id])).toString('base64url');

const MAX_CURSOR = 300;

function readCursor(cursor: string, of: string): Place {
  const refuse = (): never => {
    throw new FailureError(invalid('cursor', 'is not one of this list', 'scim_invalid_cursor'));
  };
  if (cursor.length > MAX_CURSOR) return refuse();
  try {
    const [list, createdAt, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (list !== of || typeof createdAt !== 'string' || !isUuid(id)) return refuse();
    if (new Date(createdAt).toISOString() !== createdAt) return refuse();
    return { createdAt, id };
  } catch (error) {
    if (error instanceof FailureError) throw error;
    return refuse();
  }
}

export function rowsByKey<Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
