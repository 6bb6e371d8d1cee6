import { RepeatedWarnings } from '../observability/repeated-warnings.ts';
import { derivedReadModelName } from '../kernel/read-model-name.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AggregateReader } from '../kernel/aggregate.ts';
import type { EventFamily, EventOf, Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { LogTrust } from '../eventstore/log-trust.ts';
import type { StoredEvent } from '../eventstore/port.ts';
import { TenantCache } from './tenant-cache.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { Freshness } from './freshness.ts';
import {
  recordingReader,
  streamSource,
  tableSource,
  type CachedModel,
  type LoadSources,
  type Source,
} from './load-sources.ts';

const PAGE = 2_000;
const POLL_MS = 250;
/** The cache is not used once this process has not followed the log for this long. */
const TRUSTED_MS = 1_500;

/** The pseudo read model that commands freshen if this process must drop cached values before it responds. */
export const CACHE_MODEL = 'live-state';

declare module '../kernel/read-model-name.ts' {
  interface ReadModelNames extends Record<typeof CACHE_MODEL, true> {}
}

/**
 * A load in progress. An event of a source that it has read, or is reading, makes its result stale: it must not be
 * cached.
 */
interface Load {
  readonly sources: Set<Source>;
  isStale: boolean;
}

interface Cache {
  readonly loads: Set<Load>;
  readonly entries: TenantCache;
}

/** The capacity of one cache, and the weight of each value. */
export interface CacheBound<Value> {
  readonly most: number;
  weigh(value: NonNullable<Value>): number;
}
const BY_COUNT: CacheBound<unknown> = { most: 50_000, weigh: () => 1 };

type LookUp<Value> = (tenantId: TenantId, id: string) => Promise<Value>;
type Listener = (event: RecordedEvent) => void;

export interface LiveStateParts {
  readonly subscription: CatchUpSubscription;
  readonly freshness: Freshness;
  readonly aggregates: AggregateReader;
  readonly log: Logger;
  readonly trust?: LogTrust;
}

/**
 * Caches what every request looks up: whether a session is live, the state of a device, the configuration of
 * extensions. A load records the streams and tables that it reads. Any event of these drops its value, within
 * milliseconds on every node. No list of event types is kept by hand. A process that cannot follow the log stops
 * using its caches and loads each time.
 */
export class InvalidatingCache {
  readonly #subscription: CatchUpSubscription;
  readonly #freshness: Freshness;
  readonly #aggregates: AggregateReader;
  readonly #warnings: RepeatedWarnings;
  readonly #trust: LogTrust;
  readonly #caches: Cache[] = [];
  readonly #listeners = new Map<string, Listener[]>();
  /** Event type to names of the read models that fold it, for models that some load has read. */
  readonly #modelsByType = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  #position: Position;
  #currentAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor({ subscription, freshness, aggregates, log, trust = new LogTrust() }: LiveStateParts) {
    this.#subscription = subscription;
    this.#freshness = freshness;
    this.#aggregates = aggregates;
    this.#warnings = new RepeatedWarnings(log);
    this.#trust = trust;
    this.#position = subscription.head;
  }

  /**
   * Returns a cached look-up. `load` must read through `from` alone. Undefined, null and values without sources are
   * not cached.
   */
  cached<Value>(
    load: (from: LoadSources, tenantId: TenantId, id: string) => Promise<Value>,
    { most, weigh }: CacheBound<Value> = BY_COUNT,
  ): LookUp<Value> {
    const cache: Cache = { loads: new Set(), entries: new TenantCache(most) };
    this.#caches.push(cache);
    return async (tenantId, id) => {
      const name = `${tenantId}/${id}`;
      const trusted = this.#trust.holds && performance.now() - this.#currentAt < TRUSTED_MS;
      const known = trusted ? cache.entries.get(name) : undefined;
      if (known !== undefined) return known as Value;
      const running: Load = { sources: new Set(), isStale: !trusted };
      cache.loads.add(running);
      try {
        const value = await load(this.#sourcesOf(running, tenantId), tenantId, id);
        const isCached = value !== undefined && value !== null && !running.isStale && running.sources.size > 0;
        if (isCached) cache.entries.put(running.sources, name, value, weigh(value));
        return value;
      } finally {
        cache.loads.delete(running);
      }
    };
  }

  /** Calls `listener` for every event of a type: for state that this process keeps elsewhere. */
  onEvent<Family extends EventFamily, Type extends EventOf<Family>['type']>(
    _family: Family,
    type: Type,
    listener: (event: RecordedEvent<Extract<EventOf<Family>, { type: Type }>>) => void,
  ): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener as Listener]);
  }

  /** Drops every cached value, and the results of loads in progress. */
  forget(): void {
    this.#currentAt = Number.NEGATIVE_INFINITY;
    for (const { entries, loads } of this.#caches) {
      entries.forgetAll();
      for (const load of loads) load.isStale = true;
    }
  }

  start(): void {
    this.#running ??= this.#follow();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        // While the log is in doubt it may be another one, whose events and positions mean nothing here.
        if (this.#trust.holds) await this.#step(signal);
        else await this.#trust.changed(POLL_MS, signal);
      } catch (error) {
        this.#warnings.warn({ reason: (error as Error).message }, 'the invalidating cache cannot follow the event log');
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { epoch } = this.#trust;
    const slice = await this.#subscription.read(this.#position, PAGE);
    if (this.#trust.epoch !== epoch) return;
    if (slice.position === this.#position) {
      this.#currentAt = performance.now();
      this.#freshness.passed([CACHE_MODEL], this.#position);
      return this.#subscription.wait(this.#position, POLL_MS, { signal });
    }
    for (const event of slice.events) this.#dropWhatCameOf(event);
    const relevant = slice.events.filter(({ type }) => this.#listeners.has(type));
    const decoded = await this.#subscription.decode(relevant);
    if (this.#trust.epoch !== epoch) return;
    for (const event of decoded) if (event) for (const listener of this.#listeners.get(event.type)!) listener(event);
    this.#position = slice.position;
    this.#freshness.passed([CACHE_MODEL], this.#position);
  }

  #sourcesOf(load: Load, tenantId: TenantId): LoadSources {
    return {
      aggregates: recordingReader(this.#aggregates, (stream) => load.sources.add(streamSource(stream))),
      tables: async (models) => {
        for (const model of models) {
          this.#followModel(model);
          load.sources.add(tableSource(model.name, tenantId));
        }
        const names = models.map(({ name }) => derivedReadModelName(name));
        if (!(await this.#freshness.waitFor(names, this.#subscription.head))) load.isStale = true;
      },
    };
  }

  #followModel({ name, on, scope }: CachedModel): void {
    if (scope === 'installation')
      throw new TypeError(`${name} holds rows of all tenants, which no cached value may depend on`);
    for (const type of Object.keys(on)) {
      const names = this.#modelsByType.get(type);
      if (names) names.add(name);
      else this.#modelsByType.set(type, new Set([name]));
    }
  }

  /** Works on stored events, so that an event that cannot be decoded also drops what it may have changed. */
  #dropWhatCameOf({ stream, type, tenantId }: StoredEvent): void {
    this.#drop(streamSource(stream));
    for (const model of this.#modelsByType.get(type) ?? []) this.#drop(tableSource(model, tenantId));
  }

  #drop(source: Source): void {
    for (const { entries, loads } of this.#caches) {
      for (const load of loads) if (load.sources.has(source)) load.isStale = true;
      entries.forgetSource(source);
    }
  }
}
