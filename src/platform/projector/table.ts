import { Containing, type Columns } from '../kernel/read-model.ts';

/** The table of one version of a read model (or of a reaction's state). */
export interface TableShape {
  readonly name: string;
  readonly columns: Columns;
  readonly key: readonly string[];
  readonly indexes: readonly (readonly string[] | string)[];
}

export type TableRow = Record<string, unknown>;

/** The version is part of the table's name. A rebuild of the same version gets another generation beside it. */
export const tableName = (name: string, version: number, generation: number): string =>
  `${name}_v${version}${generation > 1 ? `_g${generation}` : ''}`;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`;
export const qualified = (schema: string, table: string): string => `${quoted(schema)}.${quoted(table)}`;

/** Creates table, indexes and row-level security. */
export const createTable = (shape: TableShape, table: string, schema = 'public'): string =>
  [createBareTable(shape, table, schema), ...createIndexes(shape, table, schema)].join(';\n');

/** Creates the table without indexes, which only readers need: it fills faster. */
export function createBareTable(shape: TableShape, table: string, schema = 'public'): string {
  const full = qualified(schema, table);
  return [
    `create table ${full} ${definition(shape)} with (fillfactor = 85)`,
    `alter table ${full} enable row level security`,
    `create policy tenant on ${full} for select to castellan_reads using (tenant_id = castellan_tenant())`,
    `grant select on ${full} to castellan_reads`,
  ].join(';\n');
}

/** Creates a table that only its creator reads, and drops soon. */
export const createPassingTable = (shape: TableShape, table: string, schema: string): string =>
  `create unlogged table ${qualified(schema, table)} ${definition(shape)}`;

function definition(shape: TableShape): string {
  const columns = Object.entries(shape.columns).map(
    ([name, { sql, nullable }]) => `${quoted(name)} ${sql}${nullable ? '' : ' not null'}`,
  );
  const key = ['tenant_id', ...shape.key].map(quoted).join(', ');
  return `(tenant_id uuid not null, ${columns.join(', ')}, primary key (${key}))`;
}

export const createIndexes = (shape: TableShape, table: string, schema = 'public'): string[] =>
  shape.indexes.map((index) =>
    typeof index === 'string'
      ? `create index on ${qualified(schema, table)} ${index}`
      : `create index on ${qualified(schema, table)} (${['tenant_id', ...index].map(indexColumn).join(', ')})`,
  );

/** `created_at desc` is a column with a direction. */
const indexColumn = (text: string) => {
  const [name, ...direction] = text.split(' ');
  return [quoted(name!), ...direction].join(' ');
};

/** Makes the view that queries use show this table. The caller's rights apply behind the view, not its owner's. */
export const serveTable = (name: string, table: string, schema = 'public'): string =>
  [
    `drop view if exists ${qualified(schema, name)}`,
    `create view ${qualified(schema, name)} with (security_invoker = true) as select * from ${qualified(schema, table)}`,
    `grant select on ${qualified(schema, name)} to castellan_reads`,
  ].join(';\n');

/** The bulk statements of one table. Each takes one array: keys as JSON, rows as their row type (`row-encoding.ts`). */
export class TableStatements {
  readonly load: string;
  /** The rows are the parameter of this number. */
  readonly upsert: (place: number) => string;
  readonly remove: string;
  readonly all: string;
  readonly rowType: string;
  readonly #full: string;

  constructor(shape: TableShape, table: string, schema = 'public') {
    const full = qualified(schema, table);
    const keys = ['tenant_id', ...shape.key];
    const types: Record<string, string> = { tenant_id: 'uuid' };
    for (const [name, { sql }] of Object.entries(shape.columns)) types[name] = sql;
    const names = Object.keys(types);
    const typed = (list: readonly string[]) => list.map((name) => `${quoted(name)} ${types[name]}`).join(', ');
    const list = (items: readonly string[]) => items.map(quoted).join(', ');
    const match = keys.map((name) => `t.${quoted(name)} = k.${quoted(name)}`).join(' and ');
    const row = (of: string) => keys.map((name) => `${of}.${quoted(name)}`).join(', ');
    const rest = names.filter((name) => !keys.includes(name));
    const update = rest.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ');
    this.#full = full;
    // Equal to the key, said so that only the primary key gives the rows in this order. The statement is planned while
    // the table is empty: with `=`, another index that begins with the same columns looks as good, and each look-up
    // would later read all rows of a tenant.
    const equal = `(${row('t')}) >= (${row('k')}) and (${row('t')}) <= (${row('k')}) order by ${row('t')} limit 1`;
    this.load = `select t.* from json_to_recordset($1::json) as k(${typed(keys)}) cross join lateral (select t.* from ${full} t where ${equal}) t`;
    this.upsert = (place) =>
      `insert into ${full} (${list(names)}) select ${list(names)} from unnest($${place}::${full}[])` +
      ` on conflict (${list(keys)}) do ${rest.length ? `update set ${update}` : 'nothing'}`;
    this.remove = `delete from ${full} t using json_to_recordset($1::json) as k(${typed(keys)}) where ${match}`;
    this.rowType = `select ${quoteLiteral(full)}::regtype::oid::int as oid`;
    this.all = `select t.* from ${full} t order by ${keys.map((name) => `t.${quoted(name)}`).join(', ')}`;
  }

  /** Deletes a tenant's rows where these columns have these values: `$1` is the tenant, then the values in order. */
  purge(where: Readonly<Record<string, unknown>>): string {
    // Null equals null here, as for rows in memory (`is not distinct from` would use no index).
    const conditions = Object.entries(where).map(([name, value], index) =>
      value instanceof Containing
        ? `strpos(${quoted(name)}, $${index + 2}) > 0`
        : `(${quoted(name)} = $${index + 2} or (${quoted(name)} is null and $${index + 2} is null))`,
    );
    return `delete from ${this.#full} where ${['tenant_id = $1', ...conditions].join(' and ')}`;
  }
}
