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
import type { CheckpointKey, ForwardingCheckpoint, ForwardingCheckpoints } from './forwarding-checkpoints.ts';
import { ForwardingStream } from './forwarding-stream.ts';
import { TenantLog } from './tenant-log.ts';

export interface RunningStreamsPorts {
  readonly pool: pg.Pool;
  readonly store: Pick<EventStore, 'readStream' | 'readStreamTail'>;
  readonly subscription: CatchUpSubscription;
  readonly codec: EventCodec;
  readonly checkpoints: ForwardingCheckpoints;
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
  readonly key: CheckpointKey;
  readonly stream: ForwardingStream;
  readonly wanted: ReadonlySet<string>;
  /** Changes with the configuration: then the stream starts anew. */
  readonly content: string;
  readonly isLive: boolean;
  readonly ended: Promise<void>;
  readonly leaving: AbortController;
  readonly over: AbortController;
}

/** How long a stream that ends in order may take to send what it has read and to have it confirmed. */
const LEAVE_MS = 3_000;

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
    const { pool, checkpoints } = this.#ports;
    const [listed, known] = await Promise.all([listedDestinations(pool), checkpoints.all()]);
    const checkpointOf = new Map(known.map((checkpoint) => [checkpoint.checkpointId, checkpoint]));
    const wanted = new Set<string>();
    const exists = new Set<string>();
    for (const destination of listed) {
      const { destinationId, isEnabled, backfill } = destination;
      exists.add(destinationId);
      if (!isEnabled) continue;
      wanted.add(destinationId);
      await this.#ensureRunning(destination, destinationId, () => this.#liveCheckpoint(destination, checkpointOf));
      if (!backfill || this.#finished.has(backfill.backfillId)) continue;
      wanted.add(backfill.backfillId);
      await this.#ensureRunning(destination, backfill.backfillId, () =>
        this.#pastCheckpoint(destination, checkpointOf),
      );
    }
    for (const [checkpointId, running] of this.#running) if (!wanted.has(checkpointId)) await this.#end(running);
    const latest = new Set(listed.flatMap(({ backfill }) => backfill?.backfillId ?? []));
    for (const checkpoint of known) {
      if (!exists.has(checkpoint.destinationId)) await this.#forgetIfDeleted(checkpoint);
      else if (checkpoint.range && !latest.has(checkpoint.checkpointId)) await checkpoints.remove(checkpoint);
    }
    this.#wantedTypes = new Set([...this.#running.values()].flatMap((running) => [...running.wanted]));
  }

  /** `inOrder`: the streams have their last records confirmed. Otherwise they end at once. */
  async stop({ inOrder }: { readonly inOrder: boolean }): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => this.#end(running, inOrder ? LEAVE_MS : 0)));
  }

  async #ensureRunning(
    destination: ListedDestination,
    checkpointId: string,
    checkpointOf: () => Promise<ForwardingCheckpoint | undefined>,
  ): Promise<void> {
    const content = `${destination.contentRevision}`;
    const running = this.#running.get(checkpointId);
    if (running?.content === content) return;
    if (running) await this.#end(running);
    // Read anew after the end of the stream before: it has moved the checkpoint.
    const checkpoint = await checkpointOf();
    if (checkpoint) this.#start(checkpoint, destination, content);
  }

  #start(checkpoint: ForwardingCheckpoint, destination: ListedDestination, content: string): void {
    const { sinks, clock, log, checkpoints } = this.#ports;
    const { tenantId, destinationId, checkpointId, range } = checkpoint;
    const wanted = wantedEvents(destination.eventTypes);
    const [leaving, over] = [new AbortController(), new AbortController()];
    const stream = new ForwardingStream(checkpoint, {
      tenantLog: new TenantLog(this.#ports, tenantId, wanted),
      checkpoints,
      clock,
      log,
      counted: () => this.#counted,
      open: async () => {
        const opened = await sinks.open(tenantId, destinationId, range ? `backfill/${checkpointId}` : undefined);
        if (!opened) throw new SinkFailed('the destination was deleted');
        return opened;
      },
    });
    const ended = stream.run(leaving.signal, over.signal).then(
      () => void (range && !leaving.signal.aborted && this.#finished.add(checkpointId)),
      () => this.#lost(),
    );
    const running = { key: checkpoint, stream, wanted, content, isLive: !range, ended, leaving, over };
    this.#running.set(checkpointId, running);
    if (!range) this.#ofTenant.set(tenantId, (this.#ofTenant.get(tenantId) ?? new Set()).add(running));
  }

  async #end(running: Running, withinMs = 0): Promise<void> {
    running.leaving.abort();
    if (withinMs === 0) running.over.abort();
    const timer = setTimeout(() => running.over.abort(), withinMs);
    await running.ended;
    clearTimeout(timer);
    this.#running.delete(running.key.checkpointId);
    this.#ofTenant.get(running.key.tenantId)?.delete(running);
  }

  /** A new destination begins after the event that created it. */
  async #liveCheckpoint(
    { tenantId, destinationId }: ListedDestination,
    known: ReadonlyMap<string, ForwardingCheckpoint>,
  ): Promise<ForwardingCheckpoint | undefined> {
    const key = { tenantId, destinationId, checkpointId: destinationId };
    const begin = known.get(destinationId)?.position ?? (await this.#eventOf(key, 0n))?.position;
    return begin === undefined ? undefined : this.#ports.checkpoints.ensure(key, begin);
  }

  /** A range of the past ends with the event that requested it. */
  async #pastCheckpoint(
    { tenantId, destinationId, backfill }: ListedDestination,
    known: ReadonlyMap<string, ForwardingCheckpoint>,
  ): Promise<ForwardingCheckpoint | undefined> {
    const { backfillId, from, to, revision } = backfill!;
    const key = { tenantId, destinationId, checkpointId: backfillId };
    const existing = known.get(backfillId);
    if (existing && existing.position >= existing.range!.until) {
      this.#finished.add(backfillId);
      return undefined;
    }
    if (existing) return this.#ports.checkpoints.ensure(key, existing.position, existing.range);
    const until = (await this.#eventOf(key, BigInt(revision)))?.position;
    if (until === undefined) return undefined;
    return this.#ports.checkpoints.ensure(key, await positionBefore(this.#ports.pool, tenantId, from), {
      from,
      to,
      until,
    });
  }

  /** The read model may be incomplete; only the log proves that a destination was deleted. */
  async #forgetIfDeleted(checkpoint: ForwardingCheckpoint): Promise<void> {
    const stream = logDestinationStream(checkpoint.tenantId, checkpoint.destinationId);
    const [last] = await this.#ports.store.readStreamTail(stream, 1);
    if (last?.type === 'LogDestinationDeleted') await this.#ports.checkpoints.forget(checkpoint);
  }

  async #eventOf({ tenantId, destinationId }: CheckpointKey, revision: bigint): Promise<StoredEvent | undefined> {
    const stream = logDestinationStream(tenantId, destinationId);
    return (await this.#ports.store.readStream(stream, { from: revision, limit: 1 }))[0];
  }
}
