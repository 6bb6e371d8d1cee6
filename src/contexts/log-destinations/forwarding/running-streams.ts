import type pg from 'pg';
import type { Logger } from 'pino';
import type { EventCodec } from '../../../platform/eventstore/codec.ts';
import type { EventStore, StoredEvent } from '../../../platform/eventstore/port.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { CatchUpSubscription } from '../../../platform/projector/catch-up-subscription.ts';
import { logDestinationStream } from '../domain/log-destination.ts';
import { wantedEvents } from '../record-table.ts';
import { SinkFailed } from '../sinks/sink.ts';
import type { Clock } from './clock.ts';
import { listedDestinations, positionBefore, type ListedDestination } from './destination-listing.ts';
import type { DestinationSinks } from './destination-sinks.ts';
import type { CursorKey, ForwardingCursor, ForwardingCursors } from './forwarding-cursors.ts';
import { ForwardingStream } from './forwarding-stream.ts';
import { TenantFeed } from './tenant-feed.ts';

export interface RunningStreamsPorts {
  readonly pool: pg.Pool;
  readonly store: Pick<EventStore, 'readStream' | 'readStreamTail'>;
  readonly subscription: CatchUpSubscription;
  readonly codec: EventCodec;
  readonly cursors: ForwardingCursors;
  readonly sinks: Pick<DestinationSinks, 'open'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface StreamLag {
  readonly tenantId: TenantId;
  readonly destinationId: string;
  readonly events: number;
  readonly seconds: number;
  readonly isFailing: boolean;
}

interface Running {
  readonly key: CursorKey;
  readonly stream: ForwardingStream;
  readonly wanted: ReadonlySet<string>;
  /** Changes with the configuration: then the stream starts anew. */
  readonly content: string;
  readonly isLive: boolean;
  readonly ended: Promise<void>;
  readonly over: AbortController;
}

/** The streams of the process that holds the lease. */
export class RunningStreams {
  readonly #ports: RunningStreamsPorts;
  readonly #lost: () => void;
  readonly #running = new Map<string, Running>();
  readonly #ofTenant = new Map<TenantId, Set<Running>>();
  /** Ranges of the past that were sent to their end, as long as this process forwards. */
  readonly #finished = new Set<string>();
  #wantedTypes: ReadonlySet<string> = new Set();
  #counted: Position;

  constructor(ports: RunningStreamsPorts, counted: Position, lost: () => void) {
    this.#ports = ports;
    this.#counted = counted;
    this.#lost = lost;
  }

  /** How far the log was followed. */
  get counted(): Position {
    return this.#counted;
  }

  get lags(): readonly StreamLag[] {
    return [...this.#running.values()]
      .filter(({ isLive }) => isLive)
      .map(({ key: { tenantId, destinationId }, stream }) => ({ tenantId, destinationId, ...stream.lag }));
  }

  concerns(type: string): boolean {
    return this.#wantedTypes.has(type);
  }

  /** Tells each stream how many of these events are for it. */
  count(events: readonly StoredEvent[], position: Position): void {
    const noticed = new Map<Running, number>();
    for (const { tenantId, type } of events)
      for (const running of this.#ofTenant.get(tenantId) ?? [])
        if (running.wanted.has(type)) noticed.set(running, (noticed.get(running) ?? 0) + 1);
    this.#counted = position;
    for (const [{ stream }, count] of noticed) stream.notice(count);
  }

  /** Starts, restarts and ends streams, so that they are those of the configured destinations. */
  async refresh(): Promise<void> {
    const { pool, cursors } = this.#ports;
    const [listed, known] = await Promise.all([listedDestinations(pool), cursors.all()]);
    const cursorOf = new Map(known.map((cursor) => [cursor.cursorId, cursor]));
    const wanted = new Set<string>();
    const exists = new Set<string>();
    for (const destination of listed) {
      const { destinationId, isEnabled, backfill } = destination;
      exists.add(destinationId);
      if (!isEnabled) continue;
      wanted.add(destinationId);
      await this.#ensureRunning(destination, destinationId, () => this.#liveCursor(destination, cursorOf));
      if (!backfill || this.#finished.has(backfill.backfillId)) continue;
      wanted.add(backfill.backfillId);
      await this.#ensureRunning(destination, backfill.backfillId, () => this.#pastCursor(destination, cursorOf));
    }
    for (const [cursorId, running] of this.#running) if (!wanted.has(cursorId)) await this.#end(running);
    const latest = new Set(listed.flatMap(({ backfill }) => backfill?.backfillId ?? []));
    for (const cursor of known) {
      if (!exists.has(cursor.destinationId)) await this.#forgetIfDeleted(cursor);
      else if (cursor.range && !latest.has(cursor.cursorId)) await cursors.remove(cursor);
    }
    this.#wantedTypes = new Set([...this.#running.values()].flatMap((running) => [...running.wanted]));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => this.#end(running)));
  }

  async #ensureRunning(
    destination: ListedDestination,
    cursorId: string,
    cursorOf: () => Promise<ForwardingCursor | undefined>,
  ): Promise<void> {
    const content = `${destination.contentRevision}`;
    const running = this.#running.get(cursorId);
    if (running?.content === content) return;
    if (running) await this.#end(running);
    // Read anew after the end of the stream before: it has moved the cursor.
    const cursor = await cursorOf();
    if (cursor) this.#start(cursor, destination, content);
  }

  #start(cursor: ForwardingCursor, destination: ListedDestination, content: string): void {
    const { sinks, clock, log, cursors } = this.#ports;
    const { tenantId, destinationId, cursorId, range } = cursor;
    const wanted = wantedEvents(destination.eventTypes);
    const over = new AbortController();
    const stream = new ForwardingStream(cursor, {
      feed: new TenantFeed(this.#ports, tenantId, wanted),
      cursors,
      clock,
      log,
      counted: () => this.#counted,
      open: async () => {
        const opened = await sinks.open(tenantId, destinationId, range ? `backfill/${cursorId}` : undefined);
        if (!opened) throw new SinkFailed('the destination was deleted');
        return opened;
      },
    });
    const ended = stream.run(over.signal).then(
      () => void (range && !over.signal.aborted && this.#finished.add(cursorId)),
      () => this.#lost(),
    );
    const running = { key: cursor, stream, wanted, content, isLive: !range, ended, over };
    this.#running.set(cursorId, running);
    if (!range) this.#ofTenant.set(tenantId, (this.#ofTenant.get(tenantId) ?? new Set()).add(running));
  }

  async #end(running: Running): Promise<void> {
    running.over.abort();
    await running.ended;
    this.#running.delete(running.key.cursorId);
    this.#ofTenant.get(running.key.tenantId)?.delete(running);
  }

  /** A new destination begins after the event that created it. */
  async #liveCursor(
    { tenantId, destinationId }: ListedDestination,
    known: ReadonlyMap<string, ForwardingCursor>,
  ): Promise<ForwardingCursor | undefined> {
    const key = { tenantId, destinationId, cursorId: destinationId };
    const begin = known.get(destinationId)?.position ?? (await this.#eventOf(key, 0n))?.position;
    return begin === undefined ? undefined : this.#ports.cursors.ensure(key, begin);
  }

  /** A range of the past ends with the event that requested it. */
  async #pastCursor(
    { tenantId, destinationId, backfill }: ListedDestination,
    known: ReadonlyMap<string, ForwardingCursor>,
  ): Promise<ForwardingCursor | undefined> {
    const { backfillId, from, to, revision } = backfill!;
    const key = { tenantId, destinationId, cursorId: backfillId };
    const existing = known.get(backfillId);
    if (existing && existing.position >= existing.range!.until) {
      this.#finished.add(backfillId);
      return undefined;
    }
    if (existing) return this.#ports.cursors.ensure(key, existing.position, existing.range);
    const until = (await this.#eventOf(key, BigInt(revision)))?.position;
    if (until === undefined) return undefined;
    return this.#ports.cursors.ensure(key, await positionBefore(this.#ports.pool, tenantId, from), { from, to, until });
  }

  /** The read model may be incomplete; only the log proves that a destination was deleted. */
  async #forgetIfDeleted(cursor: ForwardingCursor): Promise<void> {
    const stream = logDestinationStream(cursor.tenantId, cursor.destinationId);
    const [last] = await this.#ports.store.readStreamTail(stream, 1);
    if (last?.type === 'LogDestinationDeleted') await this.#ports.cursors.forget(cursor);
  }

  async #eventOf({ tenantId, destinationId }: CursorKey, revision: bigint): Promise<StoredEvent | undefined> {
    const stream = logDestinationStream(tenantId, destinationId);
    return (await this.#ports.store.readStream(stream, { from: revision, limit: 1 }))[0];
  }
}
