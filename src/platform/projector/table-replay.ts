import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { AnyReadModel, Lane } from '../kernel/read-model.ts';
import { transaction } from '../database/transaction.ts';
import type { EventStore, AllStreamPage, StoredEvent } from '../eventstore/port.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { FoldFailure } from './working-set.ts';
import { Projection } from './projection.ts';

/** Progress of a rebuild. On a gapless store the difference of two positions is a number of events. */
export interface ReplayProgress {
  readonly model: string;
  readonly from: Position;
  readonly position: Position;
  readonly head: Position;
  readonly events: number;
  readonly elapsedMs: number;
}

export interface ReplayOptions {
  readonly model: AnyReadModel;
  readonly generation: number;
  readonly from: Position;
  /** The table holds nothing yet. */
  readonly empty: boolean;
  readonly schema?: string;
  /** Where to stop (inclusive); undefined: at the end of the log. */
  readonly until?: { readonly position?: Position; readonly time?: number };
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Moves the checkpoint inside the batch's transaction. */
  readonly checkpoint?: (client: pg.PoolClient, to: Position) => Promise<void>;
}

/** Events per read; three pages are in progress at once. Telemetry events are a hundred times as large as others. */
const PAGE: Readonly<Record<Lane, number>> = { main: 2_000, telemetry: 250 };
/**
 * Events folded at once. In between, the event loop receives data of the next page, so that the database need not
 * wait.
 */
const SLICE = 250;

/**
 * Folds the log into a table beside the live one. While one page is written, the next is folded and the one after it
 * read. An event that cannot be folded ends the rebuild: a new version with missing events must never be served.
 */
export async function replayIntoTable(
  { store, codec, pool }: { store: EventStore; codec: EventCodec; pool: pg.Pool },
  options: ReplayOptions,
): Promise<Position> {
  const { model, until, signal } = options;
  const projection = new Projection(model, options.generation, {
    empty: options.empty,
    ...(options.schema ? { schema: options.schema } : {}),
  });
  const started = performance.now();
  let position = options.from;
  let seen = 0;
  const most = PAGE[model.lane];
  let next = store.readAll(position, most);
  let writing: Promise<unknown> = Promise.resolve();
  for (;;) {
    signal?.throwIfAborted();
    const page = await next;
    const { events, to, isLast } = boundedPage(page, position, most, until);
    next = isLast ? next : store.readAll(page.position, most);
    next.catch(() => undefined); // reported at the await
    const wanted = events.filter(({ type }) => projection.wants(type));
    const isAhead = projection.canFoldAhead;
    const folded = await (isAhead ? foldAhead : foldWhenWritten)(projection, codec, wanted);
    await writing;
    writing = transaction(pool, async (client) => {
      const [poison] = await folded.write(client);
      if (poison)
        throw new Error(`${model.name} cannot fold the event at ${poison.event.position}: ${poison.error.message}`, {
          cause: poison.error,
        });
      await options.checkpoint?.(client, to);
    });
    writing.catch(() => undefined); // reported at the await
    if (!isAhead) {
      // The next load must see these writes.
      await writing;
      projection.committed();
    }
    if (isLast) await writing;
    position = to;
    seen += events.length;
    options.onProgress?.({
      model: model.name,
      from: options.from,
      position,
      head: until?.position ?? (isLast ? position : await store.head()),
      events: seen,
      elapsedMs: performance.now() - started,
    });
    if (isLast) return position;
  }
}

const decodedOf = async (codec: EventCodec, stored: readonly StoredEvent[]): Promise<RecordedEvent[]> =>
  (await codec.decode(stored)).filter((event) => event !== undefined);

/** A decoded page, possibly folded already. `write` returns the first event that cannot be folded, if any. */
interface FoldedPage {
  readonly write: (client: pg.PoolClient) => Promise<readonly FoldFailure[]>;
}

/** Used if rows must be loaded: the fold runs in the transaction that writes. */
async function foldWhenWritten(
  projection: Projection,
  codec: EventCodec,
  stored: readonly StoredEvent[],
): Promise<FoldedPage> {
  const events = await decodedOf(codec, stored);
  return { write: (client) => projection.apply(client, events) };
}

/** Folds in slices, while the previous page is written, up to the first event that cannot be folded. */
async function foldAhead(
  projection: Projection,
  codec: EventCodec,
  stored: readonly StoredEvent[],
): Promise<FoldedPage> {
  const poisoned: FoldFailure[] = [];
  for (let from = 0; from < stored.length && poisoned.length === 0; from += SLICE) {
    poisoned.push(...projection.foldAhead(await decodedOf(codec, stored.slice(from, from + SLICE))));
    await setImmediate();
  }
  const write = projection.takeAhead();
  return {
    write: async (client) => {
      if (poisoned.length === 0) await write(client);
      return poisoned;
    },
  };
}

/** The part of a page within the bounds, the position that it reaches, and whether the rebuild ends with it. */
function boundedPage(
  page: AllStreamPage,
  position: Position,
  most: number,
  until: Until | undefined,
): { readonly events: readonly StoredEvent[]; readonly to: Position; readonly isLast: boolean } {
  const events = until ? page.events.filter((event) => within(event, until)) : page.events;
  const isCut = events.length < page.events.length;
  // A page that is not full was the end of the log when it was read. The lane handles later events: chasing them here
  // would never end.
  const isEnd = page.events.length < most && !page.more;
  return {
    events,
    to: isCut ? (events.at(-1)?.position ?? position) : page.position,
    isLast: isEnd || isCut || passed(page.position, until),
  };
}

type Until = NonNullable<ReplayOptions['until']>;

const within = (event: { position: Position; recordedAt: number }, { position, time }: Until): boolean =>
  (position === undefined || event.position <= position) && (time === undefined || event.recordedAt <= time);

const passed = (position: Position, until: Until | undefined): boolean =>
  until?.position !== undefined && position >= until.position;
