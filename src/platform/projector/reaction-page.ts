import type { RecordedEvent } from '../kernel/event.ts';
import type { AnyReaction, Effect } from '../kernel/reaction.ts';
import { derivedId } from '../execution/derived-id.ts';
import { WorkingSet, type EventSteps, type FoldFailure, type RowStep } from './working-set.ts';
import type { TableRow } from './table.ts';

/** An effect that an event asks for. The id is the same when the event is worked again. */
export interface DueEffect {
  readonly effect: Effect;
  readonly event: RecordedEvent;
  readonly id: string;
}

type ReactionStep =
  | { key: TableRow; react: (row: TableRow | undefined) => { row: TableRow | undefined; effects: readonly Effect[] } }
  | { effects: readonly Effect[] }
  | { purge: TableRow };

/** Events of one tenant in log order, folded in memory: the resulting state, and the effects of each event. */
export class ReactionPage {
  readonly events: readonly RecordedEvent[];
  /** Rows of state to load before `fold`. */
  readonly missing: readonly TableRow[];
  readonly work: WorkingSet;
  readonly #reaction: AnyReaction;
  readonly #due: DueEffect[][];
  readonly #batch: EventSteps[] = [];
  #rows: readonly TableRow[] = [];
  #poison: FoldFailure | undefined;

  constructor(reaction: AnyReaction, events: readonly RecordedEvent[]) {
    this.#reaction = reaction;
    this.events = events;
    this.#due = events.map(() => []);
    this.work = new WorkingSet(reaction.state?.key ?? []);
    for (const [at, event] of events.entries()) {
      try {
        this.#batch.push({ event, steps: this.#rowSteps(event, this.#due[at]!) });
      } catch (error) {
        this.#poison = { event, error: error as Error };
        break;
      }
    }
    this.missing = this.work.missing(this.#batch);
  }

  /**
   * Folds on top of these rows; rows beyond the missing ones are ignored. Returns the first event that cannot be
   * folded.
   */
  fold(rows: readonly TableRow[]): FoldFailure | undefined {
    this.#rows = rows;
    this.work.admit(this.missing, rows);
    const [poison] = this.work.fold(this.#batch);
    return poison ?? this.#poison;
  }

  /** The effects of the event at this index, in order. */
  dueAt(place: number): readonly DueEffect[] {
    return this.#due[place]!;
  }

  get due(): readonly DueEffect[] {
    return this.#due.flat();
  }

  /** The page of only the first `count` events. */
  first(count: number): ReactionPage {
    if (count === this.events.length) return this;
    const page = new ReactionPage(this.#reaction, this.events.slice(0, count));
    page.fold(this.#rows);
    return page;
  }

  #rowSteps(event: RecordedEvent, due: DueEffect[]): RowStep[] {
    const add = (effects: readonly Effect[]) => {
      for (const effect of effects)
        due.push({ effect, event, id: derivedId(event.id, this.#reaction.name, due.length) });
    };
    const on = this.#reaction.on as Record<string, ((event: RecordedEvent) => readonly ReactionStep[]) | undefined>;
    return on[event.type]!(event).flatMap((step): RowStep[] => {
      if ('purge' in step) return [step];
      if (!('key' in step)) {
        add(step.effects);
        return [];
      }
      const fold = (row: TableRow | undefined) => {
        const result = step.react(row);
        add(result.effects);
        return result.row;
      };
      return [{ key: step.key, fold }];
    });
  }
}
