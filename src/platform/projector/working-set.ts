import type { RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { Containing } from '../kernel/read-model.ts';
import type { TableRow } from './table.ts';

/** What one event does to one table. Reactions also return effects. */
export type RowStep =
  | {
      readonly key: TableRow;
      readonly fold: (row: TableRow | undefined) => TableRow | undefined;
      readonly begins?: true;
      readonly once?: true;
    }
  | { readonly purge: TableRow };

export interface EventSteps {
  readonly event: RecordedEvent;
  readonly steps: readonly RowStep[];
  /** The name of each step's row; set by `missing`. */
  names?: readonly string[];
}

export interface Purged {
  readonly tenantId: TenantId;
  readonly where: TableRow;
}

/** A row to be written. The tenant is the key's, whatever the row contains. */
export interface KeyedRow {
  /** The model's key and `tenant_id`. */
  readonly key: TableRow;
  readonly row: TableRow;
}

/** A row in the work set. */
interface Cell {
  readonly key: TableRow;
  row: TableRow | undefined;
  /** The table holds a row of this key: only then is there a row to remove. */
  stored: boolean;
}

/** Previous states of cells: the row, and whether it was dirty. */
type Undo = [cell: Cell, row: TableRow | undefined, dirty: boolean][];

/** An event that could not be folded, with its error. */
export interface FoldFailure {
  readonly event: RecordedEvent;
  readonly error: Error;
}

/**
 * The rows that a batch touches, folded in memory: bulk load before, bulk write after, no I/O in between. Rows are
 * immutable by contract, so an event that fails half-way is undone by restoring the previous references.
 */
export class WorkingSet {
  readonly #keyColumns: readonly string[];
  readonly #ownerOf: (event: RecordedEvent) => TenantId;
  readonly #cells = new Map<string, Cell>();
  /** The dirty cells: many rows stay in memory between batches, but few of them change in one. */
  readonly #dirty = new Set<Cell>();
  /** Names of cells that no later event needs. */
  readonly #once: string[] = [];
  readonly purged: Purged[] = [];

  /** `ownerOf` returns the tenant whose rows an event may touch. */
  constructor(keyColumns: readonly string[], ownerOf: (event: RecordedEvent) => TenantId = (event) => event.tenantId) {
    this.#keyColumns = keyColumns;
    this.#ownerOf = ownerOf;
  }

  /**
   * The keys of these steps that are not in memory yet. A row that begins with its event cannot exist before, so it
   * is not loaded.
   */
  missing(batch: readonly EventSteps[]): TableRow[] {
    const wanted = new Map<string, TableRow>();
    for (const one of batch) {
      const owner = this.#ownerOf(one.event);
      one.names = one.steps.map((step) => ('purge' in step ? '' : this.#name(owner, step.key)));
      for (const [index, step] of one.steps.entries()) {
        if ('purge' in step) continue;
        const name = one.names[index]!;
        if (this.#cells.has(name) || wanted.has(name)) continue;
        const key = { ...step.key, tenant_id: owner };
        if (!step.once && !step.begins) wanted.set(name, key);
        else this.#cells.set(name, { key, row: undefined, stored: false });
        if (step.once) this.#once.push(name);
      }
    }
    return [...wanted.values()];
  }

  /** Adds rows as they are in the table. Keys without a row are recorded as having none. */
  admit(keys: readonly TableRow[], rows: readonly TableRow[]): void {
    for (const key of keys)
      this.#cells.set(this.#name(key['tenant_id'] as string, key), { key, row: undefined, stored: false });
    for (const row of rows) {
      const cell = this.#cells.get(this.#name(row['tenant_id'] as string, row));
      if (cell) Object.assign(cell, { row, stored: true });
    }
  }

  /** Folds event by event. Returns the events that failed; they have left no trace. */
  fold(batch: readonly EventSteps[]): FoldFailure[] {
    const poisoned: FoldFailure[] = [];
    for (const { event, steps, names } of batch) {
      const undo: Undo = [];
      const purgedBefore = this.purged.length;
      try {
        for (const [index, step] of steps.entries()) {
          if ('purge' in step) this.#purge(this.#ownerOf(event), step.purge, undo);
          else this.#apply(this.#cells.get(names![index]!)!, step.fold, undo);
        }
      } catch (error) {
        for (const [cell, row, dirty] of undo.reverse()) this.#put(cell, row, dirty);
        this.purged.length = purgedBefore;
        poisoned.push({ event, error: error as Error });
      }
    }
    return poisoned;
  }

  #apply(cell: Cell, fold: (row: TableRow | undefined) => TableRow | undefined, undo: Undo): void {
    const next = fold(cell.row);
    if (next === cell.row) return;
    undo.push([cell, cell.row, this.#dirty.has(cell)]);
    // Whatever a fold returns, the row keeps its key.
    this.#put(cell, next && this.#inItsPlace(next, cell.key), true);
  }

  #purge(tenantId: TenantId, where: TableRow, undo: Undo): void {
    const columns = Object.keys(where);
    for (const cell of this.#cells.values()) {
      if (cell.key['tenant_id'] !== tenantId || !cell.row) continue;
      if (columns.some((name) => !matches(cell.row![name], where[name]))) continue;
      undo.push([cell, cell.row, this.#dirty.has(cell)]);
      this.#put(cell, undefined, true);
    }
    this.purged.push({ tenantId, where });
  }

  /**
   * Returns the folded row itself where possible: V8 keeps a row with added members as a dictionary, which makes each
   * later fold take microseconds.
   */
  #inItsPlace(row: TableRow, key: TableRow): TableRow {
    return this.#keyColumns.every((column) => row[column] === key[column]) ? row : { ...row, ...key };
  }

  #put(cell: Cell, row: TableRow | undefined, dirty: boolean): void {
    cell.row = row;
    if (dirty) this.#dirty.add(cell);
    else this.#dirty.delete(cell);
  }

  /** True if there is nothing to write. */
  get isClean(): boolean {
    return this.purged.length === 0 && this.#dirty.size === 0;
  }

  /** The changes to write: rows to purge, rows to upsert, keys to delete. */
  changes(): { purged: readonly Purged[]; upserts: KeyedRow[]; removals: TableRow[] } {
    const upserts: KeyedRow[] = [];
    const removals: TableRow[] = [];
    for (const { key, row, stored } of this.#dirty) {
      if (row) upserts.push({ key, row });
      else if (stored) removals.push(key);
    }
    return { purged: [...this.purged], upserts, removals };
  }

  /**
   * Call after the commit: everything in memory now equals the table. Clears it once it is more than `most` rows, and
   * then returns false.
   */
  settle(most: number): boolean {
    this.purged.length = 0;
    for (const cell of this.#dirty) cell.stored = cell.row !== undefined;
    this.#dirty.clear();
    for (const name of this.#once.splice(0)) this.#cells.delete(name);
    if (this.#cells.size <= most) return true;
    this.#cells.clear();
    return false;
  }

  get size(): number {
    return this.#cells.size;
  }

  #name(owner: string, row: TableRow): string {
    let name = owner;
    for (const column of this.#keyColumns) name += `\u0000${String(row[column])}`;
    return name;
  }
}

const matches = (value: unknown, wanted: unknown): boolean =>
  wanted instanceof Containing ? String(value).includes(wanted.text) : value === wanted;
