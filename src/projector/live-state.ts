import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Position, Recorded } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { BoundedMemory } from './bounded-memory.ts';
import { LogTrust } from '../eventstore/log-trust.ts';
import type { FeedTail } from './feed-tail.ts';
import type { Freshness } from './freshness.ts';

/** How one kind of looked-up state goes stale: event type → ids that it concerns, or `tenant` for all of its tenant. */
export type Invalidation = Readonly<Record<string, (event: Recorded) => string>>;

const PAGE = 2_000;
const PATIENCE_MS = 250;
/** Without a sign that the feed is being followed for this long, memory is not believed. */
const TRUSTED_MS = 1_500;

/** The pseudo read model that commands freshen when this process must not answer before it forgot. */
export const LIVE_STATE = 'live-state';

declare module '../kernel/read-model-name.ts' {
  interface ReadModelNames extends Record<typeof LIVE_STATE, true> {}
}

/** A load under way; what it brings is worth nothing if the feed concerned it in the meantime. */
interface Load {
  readonly tenantId: TenantId;
  readonly name: string;
  stale: boolean;
}

interface Cache {
  readonly loads: Set<Load>;
  readonly entries: BoundedMemory;
  readonly invalidation: Invalidation;
}

/** How much may be remembered of one kind, and what each value counts for. */
export interface Bound<Value> {
  readonly most: number;
  weigh(value: Value): number;
}
const BY_COUNT: Bound<unknown> = { most: 50_000, weigh: () => 1 };

/**
 * What every request asks (does this session still live, may this device still talk) is folded from its stream once, kept
 * in memory, and dropped the moment the feed says that it changed: within a millisecond or so on every node. A process
 * that cannot follow the feed stops believing its memory and asks the store each time.
 */
export class LiveState {
  readonly #tail: FeedTail;
  readonly #freshness: Freshness;
  readonly #log: Logger;
  readonly #trust: LogTrust;
  readonly #caches: Cache[] = [];
  readonly #heeded = new Map<string, (event: Recorded) => void>();
  readonly #stop = new AbortController();
  #position: Position;
  #currentAt = 0;
  #running: Promise<void> | undefined;

  constructor(tail: FeedTail, freshness: Freshness, log: Logger, trust = new LogTrust()) {
    this.#trust = trust;
    this.#tail = tail;
    this.#freshness = freshness;
    this.#log = log;
    this.#position = tail.head;
  }

  /** A look-up that remembers. `load` folds streams; it answers undefined where there is nothing (which is not remembered). */
  remember<Value>(
    load: (tenantId: TenantId, id: string) => Promise<Value | undefined>,
    invalidation: Invalidation,
    { most, weigh }: Bound<Value> = BY_COUNT,
  ): (tenantId: TenantId, id: string) => Promise<Value | undefined> {
    const cache: Cache = { loads: new Set(), entries: new BoundedMemory(most), invalidation };
    this.#caches.push(cache);
    return async (tenantId, id) => {
      const name = `${tenantId}/${id}`;
      const trusted = this.#trust.holds && Date.now() - this.#currentAt < TRUSTED_MS;
      const known = trusted ? cache.entries.get(name) : undefined;
      if (known !== undefined) return known as Value;
      const under: Load = { tenantId, name, stale: false };
      cache.loads.add(under);
      try {
        const value = await load(tenantId, id);
        if (value !== undefined && trusted && !under.stale) cache.entries.put(tenantId, name, value, weigh(value));
        return value;
      } finally {
        cache.loads.delete(under);
      }
    };
  }

  /** Calls back for every event of a type: for what this process keeps in memory elsewhere and has to forget. */
  heed(type: string, forget: (event: Recorded) => void): void {
    this.#heeded.set(type, forget);
  }

  /** Nothing that was looked up so far is believed any more, nor what is being looked up now. */
  forget(): void {
    this.#currentAt = 0;
    for (const { entries, loads } of this.#caches) {
      entries.forgetAll();
      for (const load of loads) load.stale = true;
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
        const slice = await this.#tail.read(this.#position, PAGE);
        if (slice.position === this.#position) {
          this.#currentAt = Date.now();
          await this.#tail.wait(this.#position, PATIENCE_MS, { signal });
          continue;
        }
        const wanted = slice.events.filter(
          ({ type }) => this.#heeded.has(type) || this.#caches.some(({ invalidation }) => invalidation[type]),
        );
        for (const event of await this.#tail.decode(wanted)) if (event) this.#forget(event);
        this.#position = slice.position;
        this.#freshness.passed([LIVE_STATE], this.#position);
      } catch (error) {
        this.#log.warn({ reason: (error as Error).message }, 'live state cannot follow the feed');
        await sleep(PATIENCE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #forget(event: Recorded): void {
    this.#heeded.get(event.type)?.(event);
    for (const { entries, invalidation, loads } of this.#caches) {
      const concerned = concernedBy(event, invalidation);
      if (concerned === undefined) continue;
      const name = `${event.tenantId}/${concerned}`;
      for (const load of loads)
        if (concerned === 'tenant' ? load.tenantId === event.tenantId : load.name === name) load.stale = true;
      if (concerned === 'tenant') entries.forgetTenant(event.tenantId);
      else entries.forget(name);
    }
  }
}

/** An event that cannot be read concerns everything that it might. */
function concernedBy(event: Recorded, invalidation: Invalidation): string | undefined {
  try {
    return invalidation[event.type]?.(event);
  } catch {
    return 'tenant';
  }
}
