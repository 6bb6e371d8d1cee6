import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Aggregate, BulkAggregateReader } from '../kernel/aggregate.ts';
import type { DomainEvent } from '../kernel/event.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore, StoredEvent } from '../eventstore/port.ts';

export interface LoadedAggregate<State> {
  readonly state: State;
  /** Revision of the stream's newest event, or -1 if the stream is empty. */
  readonly revision: bigint;
  /** How often all caches were dropped before this was read. The log may have been another one then. */
  readonly epoch: number;
}

/** Loaded streams of one aggregate, as an LRU cache. */
type Cache = LRUCache<string, LoadedAggregate<unknown>>;
const MAX_CACHED = 20_000;
/** Bounded by `maxSize`: `max` would allocate room for all entries at once, for each of dozens of aggregates. */
const newCache = (): Cache => new LRUCache({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });

/**
 * Folds streams and caches the states, so that a later load reads only new events. A cached state is never trusted to
 * be current: a load always asks the store, and an append checks the revision that was decided on.
 */
export class AggregateLoader implements BulkAggregateReader {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  #caches = new WeakMap<object, Cache>();
  #epoch = 0;
  readonly #scheduled = new WeakMap<object, Map<string, Promise<LoadedAggregate<unknown>>>>();

  constructor(store: EventStore, codec: EventCodec) {
    this.#store = store;
    this.#codec = codec;
  }

  /** Drops all cached states, and does not cache what loads in progress bring: the log may be another one. */
  forget(): void {
    this.#caches = new WeakMap();
    this.#epoch += 1;
  }

  /** False if the log came into doubt after this was read. */
  isCurrent({ epoch }: Pick<LoadedAggregate<unknown>, 'epoch'>): boolean {
    return epoch === this.#epoch;
  }

  /** The state of a stream that begins. */
  beginning<State, E extends DomainEvent>({ initial }: Aggregate<State, E>): LoadedAggregate<State> {
    return { state: initial, revision: -1n, epoch: this.#epoch };
  }

  async load<State, E extends DomainEvent>(aggregate: Aggregate<State, E>, stream: string): Promise<State> {
    return (await this.loadWithRevision(aggregate, stream)).state;
  }

  async loadAll<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    streams: readonly string[],
  ): Promise<readonly State[]> {
    const known = streams.map((stream) => this.cached(aggregate, stream) ?? this.beginning(aggregate));
    const fresh = await this.#store.readStreams(
      streams.map((stream, at) => ({ stream, from: known[at]!.revision + 1n })),
    );
    // One look-up for the keys of all events.
    const decoded = await this.#codec.decode(fresh.flat());
    let next = 0;
    return streams.map((stream, at) => {
      const stored = fresh[at]!;
      if (stored.length === 0) return known[at]!.state;
      let { state } = known[at]!;
      const { epoch } = known[at]!;
      for (const event of decoded.slice(next, (next += stored.length)))
        if (event) state = aggregate.fold(state, event as unknown as E);
      return this.#cache(aggregate, stream, { state, revision: stored.at(-1)!.revision, epoch }).state;
    });
  }

  /** Calls made in the same tick share one read of the store. */
  loadWithRevision<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const scheduled = ofAggregate(this.#scheduled, aggregate, () => new Map());
    let load = scheduled.get(stream) as Promise<LoadedAggregate<State>> | undefined;
    if (!load) {
      load = nextTurn().then(() => {
        scheduled.delete(stream);
        return this.#catchUp(aggregate, stream);
      });
      scheduled.set(stream, load);
    }
    return load;
  }

  async #catchUp<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const from = this.cached(aggregate, stream) ?? this.beginning(aggregate);
    const fresh = await this.#store.readStream(stream, { from: from.revision + 1n });
    return fresh.length === 0 ? from : this.#cache(aggregate, stream, await this.#fold(aggregate, from, fresh));
  }

  /** The state as of the last load, which may be out of date. Good for a decision whose append the store will check. */
  cached<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
  ): LoadedAggregate<State> | undefined {
    return this.#cacheOf(aggregate).get(stream) as LoadedAggregate<State> | undefined;
  }

  /** Folds the newest `limit` events only. The state is not cached. */
  async loadTail<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    limit: number,
  ): Promise<LoadedAggregate<State>> {
    const beginning = this.beginning(aggregate);
    return this.#fold(aggregate, beginning, await this.#store.readStreamTail(stream, limit));
  }

  /** Returns the state before this revision. It is not cached. */
  async loadBefore<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    revision: bigint,
  ): Promise<State> {
    if (revision === 0n) return aggregate.initial;
    const earlier = (await this.#store.readStream(stream)).filter((event) => event.revision < revision);
    return (await this.#fold(aggregate, this.beginning(aggregate), earlier)).state;
  }

  /** Like `loadTail`, but caches the state. A later call continues from it. */
  async followTail<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    limit: number,
  ): Promise<LoadedAggregate<State>> {
    if (this.#cacheOf(aggregate).has(stream)) return this.loadWithRevision(aggregate, stream);
    return this.#cache(aggregate, stream, await this.loadTail(aggregate, stream, limit));
  }

  /** Adds events that were just appended to the cached state, so that the next load has nothing to read. */
  advance<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    from: LoadedAggregate<State>,
    events: readonly E[],
    revision: bigint,
  ): void {
    const state = events.reduce((folded, event) => aggregate.fold(folded, event), from.state);
    this.#cache(aggregate, stream, { state, revision, epoch: from.epoch });
  }

  async #fold<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    from: LoadedAggregate<State>,
    stored: readonly StoredEvent[],
  ): Promise<LoadedAggregate<State>> {
    let { state } = from;
    for (const event of await this.#codec.decode(stored)) {
      if (event) state = aggregate.fold(state, event as unknown as E);
    }
    return { state, revision: stored.at(-1)?.revision ?? from.revision, epoch: from.epoch };
  }

  #cache<State>(aggregate: object, stream: string, loaded: LoadedAggregate<State>): LoadedAggregate<State> {
    if (this.isCurrent(loaded)) this.#cacheOf(aggregate).set(stream, loaded);
    return loaded;
  }

  #cacheOf(aggregate: object): Cache {
    return ofAggregate(this.#caches, aggregate, newCache);
  }
}

function ofAggregate<Kept>(kept: WeakMap<object, Kept>, aggregate: object, make: () => Kept): Kept {
  let own = kept.get(aggregate);
  if (!own) kept.set(aggregate, (own = make()));
  return own;
}
