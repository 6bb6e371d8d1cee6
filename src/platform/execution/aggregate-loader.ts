import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Aggregate, AggregateReader } from '../kernel/aggregate.ts';
import type { DomainEvent } from '../kernel/event.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore, StoredEvent } from '../eventstore/port.ts';

export interface LoadedAggregate<State> {
  readonly state: State;
  /** Revision of the newest event of the stream, -1 when there is none. */
  readonly revision: bigint;
}

/** Streams of one aggregate, least recently used out first. */
type Cache = LRUCache<string, LoadedAggregate<unknown>>;
const MAX_CACHED = 20_000;
/** Bounded by size: `max` would allocate room for all entries at once, for each of dozens of aggregates. */
const newCache = (): Cache => new LRUCache({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });

/**
 * Folds streams, remembering where it stopped: a later load reads only what came since. What is remembered is never
 * trusted to be current: a load asks the store each time, and an append checks the revision that was decided on.
 */
export class AggregateLoader implements AggregateReader {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  #caches = new WeakMap<object, Cache>();
  readonly #leaving = new WeakMap<object, Map<string, Promise<LoadedAggregate<unknown>>>>();

  constructor(store: EventStore, codec: EventCodec) {
    this.#store = store;
    this.#codec = codec;
  }

  /** Nothing that was folded so far is believed any more: the log may be another one. */
  forget(): void {
    this.#caches = new WeakMap();
  }

  async load<State, E extends DomainEvent>(aggregate: Aggregate<State, E>, stream: string): Promise<State> {
    return (await this.loadWithRevision(aggregate, stream)).state;
  }

  /** Those who ask in the same turn of the event loop share one look at the store, which leaves when all of them have asked. */
  loadWithRevision<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const leaving = ofAggregate(this.#leaving, aggregate, () => new Map());
    let load = leaving.get(stream) as Promise<LoadedAggregate<State>> | undefined;
    if (!load) {
      load = nextTurn().then(() => {
        leaving.delete(stream);
        return this.#catchUp(aggregate, stream);
      });
      leaving.set(stream, load);
    }
    return load;
  }

  async #catchUp<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    const known = this.cached(aggregate, stream);
    const from = known ?? { state: aggregate.initial, revision: -1n };
    const fresh = await this.#store.readStream(stream, { from: from.revision + 1n });
    return fresh.length === 0 ? from : this.#remember(aggregate, stream, await this.#fold(aggregate, from, fresh));
  }

  /** Where it stopped the last time, which may be behind by now: good for a decision whose append the store will check. */
  cached<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
  ): LoadedAggregate<State> | undefined {
    return this.#cacheOf(aggregate).get(stream) as LoadedAggregate<State> | undefined;
  }

  /** The fold over the newest `limit` events alone; nothing is remembered. */
  async loadTail<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    limit: number,
  ): Promise<LoadedAggregate<State>> {
    const newest = await this.#store.readStreamTail(stream, limit);
    return this.#fold(aggregate, { state: aggregate.initial, revision: -1n }, newest);
  }

  /** The state before this revision; nothing is remembered. */
  async loadBefore<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    revision: bigint,
  ): Promise<State> {
    if (revision === 0n) return aggregate.initial;
    const earlier = (await this.#store.readStream(stream)).filter((event) => event.revision < revision);
    return (await this.#fold(aggregate, { state: aggregate.initial, revision: -1n }, earlier)).state;
  }

  /** As `loadTail`; where it stopped is remembered, and a later call folds on from there. */
  async followTail<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    limit: number,
  ): Promise<LoadedAggregate<State>> {
    if (this.#cacheOf(aggregate).has(stream)) return this.loadWithRevision(aggregate, stream);
    return this.#remember(aggregate, stream, await this.loadTail(aggregate, stream, limit));
  }

  /** Takes in what an append has just written, so that the next load has nothing to read. */
  advance<State, E extends DomainEvent>(
    aggregate: Aggregate<State, E>,
    stream: string,
    from: LoadedAggregate<State>,
    events: readonly E[],
    revision: bigint,
  ): void {
    const state = events.reduce((folded, event) => aggregate.fold(folded, event), from.state);
    this.#remember(aggregate, stream, { state, revision });
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
    return { state, revision: stored.at(-1)?.revision ?? from.revision };
  }

  #remember<State>(aggregate: object, stream: string, loaded: LoadedAggregate<State>): LoadedAggregate<State> {
    this.#cacheOf(aggregate).set(stream, loaded);
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
