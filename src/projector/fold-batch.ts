import type { Recorded } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { TableRow } from './table.ts';

/** What one event asks of one table. Reactions answer with effects besides. */
export type RowStep =
  | { readonly key: TableRow; readonly fold: (row: TableRow | undefined) => TableRow | undefined }
  | { readonly purge: TableRow };

export interface EventSteps {
  readonly event: Recorded;
  readonly steps: readonly RowStep[];
}

export interface Purged {
  readonly tenantId: TenantId;
  readonly where: TableRow;
}

/** A row in the work set: as it stands in the table, and as it shall stand. */
interface Cell {
  readonly key: TableRow;
  row: TableRow | undefined;
  dirty: boolean;
}

/** An event that could not be folded, with what went wrong. */
export interface Poisoned {
  readonly event: Recorded;
  readonly error: Error;
}

/**
 * The rows that a batch touches, folded in memory. Bulk load before, bulk write after; in between no I/O at all.
 * Rows are immutable by contract, so an event that fails half-way is undone by putting the old references back.
 */
export class WorkSet {
  readonly #keyColumns: readonly string[];
  readonly #ownerOf: (event: Recorded) => TenantId;
  readonly #cells = new Map<string, Cell>();
  readonly purged: Purged[] = [];

  /** `ownerOf` says whose rows an event may touch. */
  constructor(keyColumns: readonly string[], ownerOf: (event: Recorded) => TenantId = (event) => event.tenantId) {
    this.#keyColumns = keyColumns;
    this.#ownerOf = ownerOf;
  }

  /** The keys that these steps touch and that are not here yet. */
  missing(batch: readonly EventSteps[]): TableRow[] {
    const wanted = new Map<string, TableRow>();
    for (const { event, steps } of batch) {
      for (const step of steps) {
        if ('purge' in step) continue;
        const key = { ...step.key, tenant_id: this.#ownerOf(event) };
        const name = this.#name(key);
        if (!this.#cells.has(name) && !wanted.has(name)) wanted.set(name, key);
      }
    }
    return [...wanted.values()];
  }

  /** Takes in rows as they stand in the table; keys without a row are known to have none. */
  admit(keys: readonly TableRow[], rows: readonly TableRow[]): void {
    for (const key of keys) this.#cells.set(this.#name(key), { key, row: undefined, dirty: false });
    for (const row of rows) {
      const cell = this.#cells.get(this.#name(row));
      if (cell) cell.row = row;
    }
  }

  /** Folds event by event; what fails is answered, and has left no trace. */
  fold(batch: readonly EventSteps[]): Poisoned[] {
    const poisoned: Poisoned[] = [];
    for (const { event, steps } of batch) {
      const undo: [Cell, TableRow | undefined, boolean][] = [];
      const purgedBefore = this.purged.length;
      try {
        for (const step of steps) this.#apply(event, step, undo);
      } catch (error) {
        for (const [cell, row, dirty] of undo.reverse()) Object.assign(cell, { row, dirty });
        this.purged.length = purgedBefore;
        poisoned.push({ event, error: error as Error });
      }
    }
    return poisoned;
  }

  #apply(event: Recorded, step: RowStep, undo: [Cell, TableRow | undefined, boolean][]): void {
    if ('purge' in step) return this.#purge(this.#ownerOf(event), step.purge, undo);
    const cell = this.#cells.get(this.#name({ ...step.key, tenant_id: this.#ownerOf(event) }))!;
    const next = step.fold(cell.row);
    if (next === cell.row) return;
    undo.push([cell, cell.row, cell.dirty]);
    // Whatever a fold answers, the row stays where its key and its tenant are.
    cell.row = next && { ...next, ...cell.key };
    cell.dirty = true;
  }

  #purge(tenantId: TenantId, where: TableRow, undo: [Cell, TableRow | undefined, boolean][]): void {
    const columns = Object.keys(where);
    for (const cell of this.#cells.values()) {
      if (cell.key['tenant_id'] !== tenantId || !cell.row) continue;
      if (columns.some((name) => cell.row![name] !== where[name])) continue;
      undo.push([cell, cell.row, cell.dirty]);
      cell.row = undefined;
      cell.dirty = true;
    }
    this.purged.push({ tenantId, where });
  }

  /** What has to be written: rows to upsert, keys to delete. */
  changes(): { upserts: TableRow[]; removals: TableRow[] } {
    const upserts: TableRow[] = [];
    const removals: TableRow[] = [];
    for (const { key, row, dirty } of this.#cells.values()) {
      if (!dirty) continue;
      if (row) upserts.push(row);
      else removals.push(key);
    }
    return { upserts, removals };
  }

  /** After the commit: everything here is as it stands in the table. Forgets it all, and says so, once it is more than `most` rows. */
  settle(most: number): boolean {
    this.purged.length = 0;
    for (const cell of this.#cells.values()) cell.dirty = false;
    if (this.#cells.size <= most) return true;
    this.#cells.clear();
    return false;
  }

  get size(): number {
    return this.#cells.size;
  }

  #name(row: TableRow): string {
    let name = row['tenant_id'] as string;
    for (const column of this.#keyColumns) name += `\u0000${String(row[column])}`;
    return name;
  }
}
