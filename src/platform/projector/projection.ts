import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import type { RecordedEvent } from '../kernel/event.ts';
import { INSTALLATION } from '../kernel/ids.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import { settleAll } from '../database/transaction.ts';
import { WorkingSet, type EventSteps, type FoldFailure, type RowStep } from './working-set.ts';
import { RowWriter, type TableChanges } from './row-writer.ts';
import { tableName, type TableRow, type TableShape } from './table.ts';

export const tableShapeOf = (model: AnyReadModel): TableShape => ({
  name: model.name,
  columns: model.columns,
  key: model.key,
  indexes: model.indexes ?? [],
});

type Handlers = Readonly<Record<string, ((event: RecordedEvent) => RowStep | readonly RowStep[]) | undefined>>;

/** Steps that are folded without yielding to the event loop: about a millisecond of work. */
const AT_HAND = 100;

/** Rows that a live model keeps in memory between batches. A rebuild from the beginning may keep many more. */
const KEEP_LIVE = 4_000;
const KEEP_FILLING = 300_000;

const stepsIn = (batch: readonly EventSteps[]): number => batch.reduce((sum, { steps }) => sum + steps.length, 0);

/**
 * A read model at work on one table: turns events into steps, folds them in memory, and writes the changes in bulk.
 * Only the holder of the cursor's lease writes the table, so loaded rows stay true until the lease is lost.
 */
export class Projection {
  readonly model: AnyReadModel;
  readonly table: string;
  readonly #writer: RowWriter;
  readonly #on: Handlers;
  #work: WorkingSet;
  /** True while all rows of the table are in memory: nothing needs loading. */
  #complete: boolean;

  constructor(model: AnyReadModel, generation: number, options: { schema?: string; empty?: boolean } = {}) {
    this.model = model;
    this.table = tableName(model.name, model.version, generation);
    this.#writer = new RowWriter(tableShapeOf(model), this.table, options.schema);
    this.#on = model.on as Handlers;
    this.#work = this.#newWork();
    this.#complete = options.empty ?? false;
  }

  #newWork(): WorkingSet {
    const key = this.model.key as string[];
    return this.model.scope === 'installation' ? new WorkingSet(key, () => INSTALLATION) : new WorkingSet(key);
  }

  wants(type: string): boolean {
    return this.#on[type] !== undefined;
  }

  /** Turns events into steps. An event whose handler throws is poisoned already here. */
  steps(events: readonly RecordedEvent[]): { batch: EventSteps[]; poisoned: FoldFailure[] } {
    const batch: EventSteps[] = [];
    const poisoned: FoldFailure[] = [];
    for (const event of events) {
      try {
        const steps = this.#on[event.type]!(event);
        batch.push({ event, steps: Array.isArray(steps) ? (steps as RowStep[]) : [steps as RowStep] });
      } catch (error) {
        poisoned.push({ event, error: error as Error });
      }
    }
    return { batch, poisoned };
  }

  /** Loads, folds and writes inside the caller's transaction. Returns the events that could not be folded. */
  async apply(client: pg.PoolClient, events: readonly RecordedEvent[]): Promise<FoldFailure[]> {
    const { poisoned, written } = await this.fold(client, events);
    await written;
    return poisoned;
  }

  /**
   * Like `apply`, but resolves while its writes are still queued, in order. Later queries of the caller run after
   * them.
   */
  async fold(
    client: pg.PoolClient,
    events: readonly RecordedEvent[],
  ): Promise<{ poisoned: FoldFailure[]; written: Promise<unknown> }> {
    const { batch, poisoned } = this.steps(events);
    const isLarge = stepsIn(batch) > AT_HAND;
    if (isLarge) await nextTurn();
    await Promise.all([this.#writer.prepare(client), this.#load(client, this.#work.missing(batch))]);
    if (isLarge) await nextTurn();
    poisoned.push(...this.#work.fold(batch));
    if (isLarge) await nextTurn();
    const written = settleAll(this.#changes().map((statement) => client.query(statement)));
    written.catch(() => undefined); // the caller that commits sees the error
    return { poisoned, written };
  }

  /** Reads the table's row type, so that rows can be encoded. */
  prepare(client: pg.PoolClient): Promise<void> {
    return this.#writer.prepare(client);
  }

  /** Nothing needs loading, whatever events come: `foldAhead` may be called. */
  get canFoldAhead(): boolean {
    return this.#complete && this.#writer.isReady;
  }

  /**
   * Folds in memory alone, while the writes of earlier events may still be in progress. From then on memory is ahead
   * of the table: if a write fails, discard this projection. Returns the events that could not be folded.
   */
  foldAhead(events: readonly RecordedEvent[]): FoldFailure[] {
    const { batch, poisoned } = this.steps(events);
    this.#work.admit(this.#work.missing(batch), []);
    poisoned.push(...this.#work.fold(batch));
    return poisoned;
  }

  /**
   * Encodes the rows that were folded ahead. Returns a function that writes them, after the writes of earlier events.
   */
  takeAhead(): (client: pg.PoolClient) => Promise<unknown> {
    const statements = this.#changes();
    this.committed();
    return (client) => settleAll(statements.map((statement) => client.query(statement)));
  }

  /**
   * Returns the steps for these events if they are few and all rows that they touch are in memory. Returns undefined,
   * with nothing folded, if rows must be loaded first or a handler throws.
   */
  stepsInMemory(events: readonly RecordedEvent[]): EventSteps[] | undefined {
    if (!this.#writer.isReady) return undefined;
    const { batch, poisoned } = this.steps(events);
    if (poisoned.length > 0 || stepsIn(batch) > AT_HAND) return undefined;
    const missing = this.#work.missing(batch);
    if (missing.length > 0 && !this.#complete) return undefined;
    this.#work.admit(missing, []);
    return batch;
  }

  /**
   * Folds steps whose rows are in memory. Returns undefined if an event cannot be folded; the caller must then call
   * `forget`.
   */
  foldInMemory(batch: readonly EventSteps[]): TableChanges | undefined {
    return this.#work.fold(batch).length > 0 ? undefined : this.#writer.split(this.#work.changes());
  }

  async #load(client: pg.PoolClient, keys: TableRow[]): Promise<void> {
    if (keys.length === 0) return;
    this.#work.admit(keys, this.#complete ? [] : await this.#writer.load(client, keys));
  }

  #changes(): pg.QueryConfig[] {
    return this.#writer.changes(this.#work.changes());
  }

  /** The transaction committed: memory equals the table. */
  committed(): void {
    const kept = this.#work.settle(this.#complete ? KEEP_FILLING : KEEP_LIVE);
    if (!kept) this.#complete = false;
  }

  /** The transaction was rolled back, or the lease was lost: drop the memory. */
  forget(): void {
    this.#work = this.#newWork();
    this.#complete = false;
  }
}
