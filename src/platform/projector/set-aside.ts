import type pg from 'pg';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { DeadLetterStart } from './lane-member.ts';
import type { Projection } from './projection.ts';
import type { FoldFailure } from './working-set.ts';

/** A replay cannot go on: the table would lack what the served one may have. The message is for operators. */
export class CannotFold extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CannotFold';
  }
}

/** A stream whose events are missing in a replayed table, from a position on. */
export interface StreamSetAside {
  readonly stream: string;
  readonly position: Position;
  readonly error: string;
}

export interface Waiting {
  readonly event: RecordedEvent;
  readonly error: string;
}

export interface SettingAside {
  /** Whether the table may go on without the event and the rest of its stream. */
  readonly mayLack: (failure: FoldFailure) => boolean;
  /** Records events that are set aside. */
  readonly park?: (client: pg.PoolClient, waiting: readonly Waiting[]) => Promise<void>;
  /** Streams that an earlier part of the replay has set aside. */
  readonly earlier?: readonly string[];
}

/**
 * The streams that a replay leaves out, as the live fold does: from an event that cannot be folded on, the whole rest
 * of its stream, so that no row is folded from a history with gaps.
 */
export class SetAside {
  readonly #model: string;
  readonly #how: SettingAside;
  readonly #starts = new Map<string, DeadLetterStart>();

  constructor(model: string, how: SettingAside) {
    this.#model = model;
    this.#how = how;
    for (const stream of how.earlier ?? []) this.#starts.set(stream, { from: 0n, reason: 'parked earlier' });
  }

  get streams(): StreamSetAside[] {
    return [...this.#starts].map(([stream, { from, reason }]) => ({ stream, position: from, error: reason }));
  }

  /** Why the event is left out; undefined if it is folded. */
  reasonFor({ stream, position }: RecordedEvent): string | undefined {
    const start = this.#starts.get(stream);
    return start && position >= start.from ? start.reason : undefined;
  }

  /** Throws `CannotFold` if the table must not lack one of them. Later failures of a stream follow from its first. */
  add(poisoned: readonly FoldFailure[]): void {
    for (const failure of poisoned.toSorted((a, b) => Number(a.event.position - b.event.position))) {
      const { event, error } = failure;
      if (this.reasonFor(event) !== undefined) continue;
      if (!this.#how.mayLack(failure))
        throw new CannotFold(
          `${this.#model} cannot fold the event at position ${event.position} (${event.type} of ${event.stream}): ${error.message}`,
          { cause: error },
        );
      this.#starts.set(event.stream, { from: event.position, reason: error.message });
    }
  }

  async park(client: pg.PoolClient, waiting: readonly Waiting[]): Promise<void> {
    if (waiting.length > 0) await this.#how.park?.(client, waiting);
  }

  /**
   * Folds inside the caller's transaction, in which all earlier events are written. Events are folded again without
   * a stream that was just set aside, because its later events were folded despite the missing one.
   */
  async fold(client: pg.PoolClient, projection: Projection, events: readonly RecordedEvent[]): Promise<void> {
    for (;;) {
      const flowing: RecordedEvent[] = [];
      const waiting: Waiting[] = [];
      for (const event of events) {
        const error = this.reasonFor(event);
        if (error === undefined) flowing.push(event);
        else waiting.push({ event, error });
      }
      await client.query('savepoint replayed');
      const poisoned = await projection.apply(client, flowing);
      if (poisoned.length === 0) return this.park(client, waiting);
      await client.query('rollback to savepoint replayed');
      projection.forget();
      this.add(poisoned);
    }
  }

  /** Folds in memory, event by event: one that fails leaves no trace. Returns the events that are left out. */
  foldAhead(projection: Projection, events: readonly RecordedEvent[]): Waiting[] {
    const waiting: Waiting[] = [];
    for (const event of events) {
      if (this.reasonFor(event) === undefined) this.add(projection.foldAhead([event]));
      const error = this.reasonFor(event);
      if (error !== undefined) waiting.push({ event, error });
    }
    return waiting;
  }
}

/** The event's data cannot be decoded: no version of a fold can do better. */
export function isDamaged(event: RecordedEvent): boolean {
  try {
    return event.data === undefined;
  } catch {
    return true;
  }
}
