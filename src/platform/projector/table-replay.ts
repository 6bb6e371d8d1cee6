import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { AnyReadModel, Lane } from '../kernel/read-model.ts';
import { isRefusal } from '../database/refusal.ts';
import { transaction } from '../database/transaction.ts';
import type { EventStore, AllStreamPage, StoredEvent } from '../eventstore/port.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import { Projection } from './projection.ts';
import { CannotFold, type SetAside, type Waiting } from './set-aside.ts';

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
  readonly aside: SetAside;
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
 * read. Streams that cannot be folded are set aside, or end the rebuild with `CannotFold`.
 */
export function replayIntoTable(parts: ReplayParts, options: ReplayOptions): Promise<Position> {
  return replay(parts, options).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
    throw new CannotFold(
      `${options.model.name} cannot be folded: the database refuses a value (${(error as Error).message})`,
      { cause: error },
    );
  });
}

interface ReplayParts {
  readonly store: Pick<EventStore, 'readAll' | 'head'>;
  readonly codec: EventCodec;
  readonly pool: pg.Pool;
}

async function replay({ store, codec, pool }: ReplayParts, options: ReplayOptions): Promise<Position> {
  const { model, until, signal, aside } = options;
  const projection = new Projection(model, options.generation, {
    empty: options.empty,
    ...(options.schema ? { schema: options.schema } : {}),
  });
  const started = performance.now();
  let position = options.from;
  let seen = 0;
  const most = PAGE[model.lane];
  // With the row type known, the first page is folded ahead already.
  if (options.empty) await transaction(pool, (client) => projection.prepare(client));
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
    // An error of the earlier write comes first, and nothing is in flight when this function ends.
    const folded = await (isAhead ? foldAhead : foldWhenWritten)(projection, codec, wanted, aside).catch(
      (error: unknown) => writing.then(() => Promise.reject(error)),
    );
    await writing;
    writing = transaction(pool, async (client) => {
      await folded.write(client);
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
  (await codec.decodeForFollowers(stored)).filter((event) => event !== undefined);

/** A decoded page, possibly folded already. */
interface FoldedPage {
  readonly write: (client: pg.PoolClient) => Promise<void>;
}

/** Used if rows must be loaded: the fold runs in the transaction that writes. */
async function foldWhenWritten(
  projection: Projection,
  codec: EventCodec,
  stored: readonly StoredEvent[],
  aside: SetAside,
): Promise<FoldedPage> {
  const events = await decodedOf(codec, stored);
  return { write: (client) => aside.fold(client, projection, events) };
}

/** Folds in slices, while the previous page is written. */
async function foldAhead(
  projection: Projection,
  codec: EventCodec,
  stored: readonly StoredEvent[],
  aside: SetAside,
): Promise<FoldedPage> {
  const waiting: Waiting[] = [];
  for (let from = 0; from < stored.length; from += SLICE) {
    waiting.push(...aside.foldAhead(projection, await decodedOf(codec, stored.slice(from, from + SLICE))));
    await setImmediate();
  }
  const write = projection.takeAhead();
  return {
    write: async (client) => {
      await write(client);
      await aside.park(client, waiting);
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
