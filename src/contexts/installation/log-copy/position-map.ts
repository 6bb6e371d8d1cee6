import type pg from 'pg';
import type { EventStore, StoredEvent } from '../../../platform/eventstore/port.ts';
import { START, type Position } from '../../../platform/kernel/event.ts';
import type { CopyRecord } from './copy-record.ts';

const PAGE = 500;
const LASTING_BEFORE =
  'select from_position::text as position from log_copy_positions where from_position <= $1 order by from_position desc limit 1';
/** Readers never see it in any store, so the copy contains no event for it. */
const TRIMMED = '$trimmed';

/**
 * Maps positions of the source log to positions of the copy: a consumer that has processed everything up to one has
 * processed everything up to the other.
 */
export class PositionMap {
  readonly #owner: Pick<pg.Pool, 'query'>;
  readonly #source: EventStore;
  readonly #target: EventStore;
  readonly #record: CopyRecord;
  /** Where the copy ends: on EventStoreDB claims follow the events. */
  readonly #end: Position;
  readonly #known = new Map<Position, Position>();

  /** Nothing may be copied from here on. */
  static async open(
    owner: Pick<pg.Pool, 'query'>,
    source: EventStore,
    target: EventStore,
    record: CopyRecord,
  ): Promise<PositionMap> {
    return new PositionMap(owner, source, target, record, await target.head());
  }

  private constructor(
    owner: Pick<pg.Pool, 'query'>,
    source: EventStore,
    target: EventStore,
    record: CopyRecord,
    end: Position,
  ) {
    this.#owner = owner;
    this.#source = source;
    this.#target = target;
    this.#record = record;
    this.#end = end;
  }

  /** Maps a checkpoint, which need not be the position of an event. */
  async checkpoint(position: Position): Promise<Position> {
    if (position === START) return START;
    // Not the last event of the copy: whoever stood before what follows it would count as behind at the next start.
    if (position >= this.#record.sourcePosition) return this.#end;
    const known = this.#known.get(position) ?? (await this.#find(position));
    this.#known.set(position, known);
    return known;
  }

  /** Maps all events of one stream by their revisions, which are the same in both logs. */
  async stream(stream: string): Promise<ReadonlyMap<Position, Position>> {
    const there = new Map(
      (await everything(this.#target, stream)).map(({ revision, position }) => [revision, position]),
    );
    const pairs = (await everything(this.#source, stream)).flatMap(({ position, revision }) => {
      const to = there.get(revision);
      return to === undefined ? [] : [[position, to] as const];
    });
    return new Map(pairs);
  }

  /**
   * Finds the newest event up to a position. It starts at the last lasting event before it, whose position in both logs
   * is known.
   */
  async #find(position: Position): Promise<Position> {
    const {
      rows: [before],
    } = await this.#owner.query<{ position: string }>(LASTING_BEFORE, [String(position)]);
    let newest: StoredEvent | undefined;
    for (let after = BigInt(before?.position ?? 0); after < position;) {
      const page = await this.#source.readAll(after, PAGE);
      newest = page.events.findLast((event) => event.position <= position && event.type !== TRIMMED) ?? newest;
      if (page.position === after) break;
      after = page.position;
    }
    if (!newest) return before ? this.#lasting(BigInt(before.position)) : START;
    const [copy] = await this.#target.readStream(newest.stream, { from: newest.revision, limit: 1 });
    if (copy?.revision !== newest.revision) throw new Error(`the copy lacks ${newest.stream}@${newest.revision}`);
    return copy.position;
  }

  async #lasting(position: Position): Promise<Position> {
    const { rows } = await this.#owner.query<{ position: string }>(
      'select to_position::text as position from log_copy_positions where from_position = $1',
      [String(position)],
    );
    return BigInt(rows[0]!.position);
  }
}

async function everything(store: EventStore, stream: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let from = 0n; ;) {
    const page = await store.readStream(stream, { from, limit: PAGE });
    events.push(...page);
    if (page.length < PAGE) return events;
    from = page.at(-1)!.revision + 1n;
  }
}
