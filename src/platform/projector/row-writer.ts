import type pg from 'pg';
import { Containing } from '../kernel/read-model.ts';
import type { KeyedRow } from './working-set.ts';
import { RowEncoding } from './row-encoding.ts';
import { TableStatements, type TableRow, type TableShape } from './table.ts';

/** The changes of a fold, to be written. */
export interface RowChanges {
  readonly purged: readonly { readonly tenantId: string; readonly where: TableRow }[];
  readonly upserts: readonly KeyedRow[];
  readonly removals: readonly TableRow[];
}

/** Rows of one table, and a statement to write them whose parameter can have any number. */
export interface Upsert {
  readonly table: string;
  /** The name of the prepared statement when it is sent alone. */
  readonly name?: string;
  readonly text: (place: number) => string;
  readonly rows: Buffer;
}

export const statementOf = ({ name, text, rows }: Upsert): pg.QueryConfig => ({
  ...(name ? { name } : {}),
  text: text(1),
  values: [rows],
});

/** Ready to be sent: removals first, then upserts. */
export interface TableChanges {
  readonly removals: readonly pg.QueryConfig[];
  /** At most one. */
  readonly upserts: readonly Upsert[];
}

/** Loads and writes rows of one table in bulk. */
export class RowWriter {
  readonly #table: string;
  readonly #statements: TableStatements;
  readonly #encoding: RowEncoding;
  /** Prepares statements of live tables only: in another schema the same name means another table. */
  readonly #named: (statement: string) => { name?: string };
  #rowType: number | undefined;
  #keysLoaded = 0;

  constructor(shape: TableShape, table: string, schema?: string) {
    this.#table = table;
    this.#statements = new TableStatements(shape, table, schema);
    this.#encoding = new RowEncoding(shape);
    this.#named = (statement) => (schema === undefined ? { name: `${statement} ${table}` } : {});
  }

  /** True once the table's row type is known, so that rows can be encoded. */
  get isReady(): boolean {
    return this.#rowType !== undefined;
  }

  async prepare(client: Pick<pg.PoolClient, 'query'>): Promise<void> {
    if (this.#rowType !== undefined) return;
    const { rows } = await client.query<{ oid: number }>(this.#statements.rowType);
    this.#rowType = rows[0]!.oid;
  }

  /**
   * A plan made for a small table may use any index, because all cost the same then; on a large table it would read
   * the whole tenant. So plan again each time the table may have doubled.
   */
  async load(client: Pick<pg.PoolClient, 'query'>, keys: readonly TableRow[]): Promise<TableRow[]> {
    this.#keysLoaded += keys.length;
    const { rows } = await client.query<TableRow>({
      ...this.#named(`load ${Math.floor(Math.log2(this.#keysLoaded + 1))}`),
      text: this.#statements.load,
      values: [JSON.stringify(keys)],
    });
    return rows;
  }

  /** The statements that apply the changes, in order. Encodes now. Throws `Unencodable`. */
  changes(changes: RowChanges): pg.QueryConfig[] {
    const { removals, upserts } = this.split(changes);
    return [...removals, ...upserts.map(statementOf)];
  }

  /** Like `changes`, in two parts. Encodes now. Throws `Unencodable`. */
  split({ purged, removals, upserts }: RowChanges): TableChanges {
    if (this.#rowType === undefined) throw new TypeError('prepare() comes first');
    const statements: pg.QueryConfig[] = purged.map(({ tenantId, where }) => ({
      text: this.#statements.purge(where),
      values: [tenantId, ...Object.values(where).map((value) => (value instanceof Containing ? value.text : value))],
    }));
    if (removals.length > 0) statements.push({ text: this.#statements.remove, values: [JSON.stringify(removals)] });
    const rows =
      upserts.length > 0
        ? [
            {
              table: this.#table,
              ...this.#named('upsert'),
              text: this.#statements.upsert,
              rows: this.#encoding.encode(upserts, this.#rowType),
            },
          ]
        : [];
    return { removals: statements, upserts: rows };
  }
}
