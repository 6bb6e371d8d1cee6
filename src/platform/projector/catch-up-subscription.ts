import type { Logger } from 'pino';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore, AllStreamFilter, AppendNotification, StoredEvent } from '../eventstore/port.ts';

/** A stretch of the feed: everything after the position that was asked for, up to and including `position`. */
export interface LogSlice {
  readonly events: readonly StoredEvent[];
  readonly position: Position;
  readonly more?: boolean;
}

/** An event that stands in the log for good: what a log that went backwards, or another log, does not have in that place. */
export interface LogMark {
  readonly position: Position;
  readonly id: string;
}

/** A position is missing from a store whose positions have no gaps. Nobody guesses: the tail stops and says so. */
export class PositionGapError extends Error {
  constructor(after: Position, found: Position) {
    super(`the feed jumps from ${after} to ${found}`);
    this.name = 'PositionGapError';
  }
}

/** Events of telemetry may hold hundreds of observations each: what is remembered is bounded with those in mind. */
const REMEMBERED = 2_000;
/** A follower that nothing concerns is still brought along this often, so that its place in the feed stays in memory. */
const MAX_PASSED = 500;
/** It looks again this soon, to write down how far it has come in case the feed has become quiet. */
const PASSED_MS = 150;
/** A hint may outrun the answer to the append that it tells of; this long it is given the chance to catch up. */
const GRACE_MS = 5;

export interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly concerns?: (type: string) => boolean;
  readonly pause?: number | undefined;
}

interface Waiter {
  readonly after: Position;
  readonly concerns: WaitOptions['concerns'];
  wake(): void;
  /** The feed has grown by what does not concern it. */
  passed(): void;
}

/**
 * The newest stretch of the feed, kept in memory for all followers of this process: it grows by what the process appended
 * itself and by what it reads when it is told, or suspects, that others appended.
 */
export class CatchUpSubscription {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  readonly #log: Logger;
  readonly #decoded = new WeakMap<StoredEvent, RecordedEvent | null>();
  #recent: StoredEvent[] = [];
  #from: Position;
  #to: Position;
  #mark: LogMark | undefined;
  #grownAt = 0;
  #suspect = true;
  #reading: Promise<void> | undefined;
  readonly #waiters = new Set<Waiter>();
  readonly #unsubscribe: () => void;

  /** Begins at the store's present end; followers that are further behind read the store themselves. */
  static async open(store: EventStore, codec: EventCodec, log: Logger): Promise<CatchUpSubscription> {
    return new CatchUpSubscription(store, codec, log, await store.head());
  }

  private constructor(store: EventStore, codec: EventCodec, log: Logger, head: Position) {
    this.#store = store;
    this.#codec = codec;
    this.#log = log;
    this.#from = head;
    this.#to = head;
    this.#unsubscribe = store.onGrowth((hint) => this.#hear(hint));
  }

  /** The newest position that this process knows of. */
  get head(): Position {
    return this.#to;
  }

  /** The newest lasting event that this process has seen. */
  get mark(): LogMark | undefined {
    return this.#mark;
  }

  /** Nothing came for this many milliseconds. */
  quietFor(milliseconds: number): boolean {
    return Date.now() - this.#grownAt >= milliseconds;
  }

  /** The next events after a position, at most `limit`; none when the feed ends there. */
  async read(after: Position, limit: number): Promise<LogSlice> {
    if (after < this.#from) return this.#readStore(after, limit);
    // A follower that another process brought past what this one knows is itself a sign of growth.
    if (after > this.#to || (after === this.#to && this.#suspect)) await this.#readOn(limit);
    return after >= this.#to ? { events: [], position: after } : this.#slice(after, limit);
  }

  /** The event at exactly this position. A log that drops what has expired may have it no more. */
  async eventAt(position: Position): Promise<RecordedEvent | undefined> {
    const near = this.#recent[this.#indexAfter(position) - 1];
    const stored = near?.position === position ? near : await this.#store.eventAt(position);
    return stored && (await this.decode([stored]))[0];
  }

  /** One tenant's next events of some types: for a follower that works its tenants apart. Read from the store. */
  readPart(after: Position, limit: number, filter: AllStreamFilter): Promise<LogSlice> {
    return this.#store.readAll(after, limit, filter);
  }

  /**
   * Resolves when the feed may have grown past `after` by something that `concerns` the follower, or after `timeoutMs` milliseconds,
   * which are reason to suspect that it has; sooner, after `pause` milliseconds, where one is given, which are not.
   */
  async wait(after: Position, timeoutMs: number, { signal, concerns, pause }: WaitOptions = {}): Promise<void> {
    // A hint that came while the last read was under way has waked nobody.
    if (this.#suspect || signal?.aborted || after < this.#from || this.#concernsSince(after, concerns)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        this.#waiters.delete(waiter);
        resolve();
      };
      let hasPassed = false;
      const passed = () => {
        if (hasPassed) return;
        hasPassed = true;
        clearTimeout(timer);
        timer = setTimeout(done, Math.min(timeoutMs, pause ?? PASSED_MS));
      };
      const waiter: Waiter = { after, concerns, wake: done, passed };
      const looks = () => {
        this.#suspect = true;
        done();
      };
      let timer = pause === undefined ? setTimeout(looks, timeoutMs) : setTimeout(done, pause);
      signal?.addEventListener('abort', done);
      this.#waiters.add(waiter);
      if (after < this.#to) passed();
    });
  }

  /** Opened and validated events, each decoded once however many followers want it; damage shows where data is looked at. */
  async decode(stored: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    const missing = stored.filter((event) => !this.#decoded.has(event));
    if (missing.length > 0) {
      const fresh = await this.#codec.decodeForFollowers(missing);
      missing.forEach((event, index) => this.#decoded.set(event, fresh[index] ?? null));
    }
    return stored.map((event) => this.#decoded.get(event) ?? undefined);
  }

  close(): void {
    this.#unsubscribe();
    for (const { wake } of this.#waiters) wake();
  }

  #hear(hint?: AppendNotification): void {
    const [first] = hint?.events ?? [];
    if (first && this.#store.gapless && first.position === this.#to + 1n) {
      this.#extend(hint!.events!, hint!.events!.at(-1)!.position);
    } else if (hint?.head !== undefined && !hint.events) {
      if (hint.head > this.#to) setTimeout(() => hint.head! > this.#to && this.#suspectGrowth(), GRACE_MS).unref();
    } else {
      this.#suspectGrowth();
    }
  }

  #suspectGrowth(): void {
    this.#suspect = true;
    for (const { wake } of this.#waiters) wake();
  }

  async #readOn(limit: number): Promise<void> {
    this.#reading ??= (async () => {
      try {
        this.#suspect = false;
        const from = this.#to;
        const slice = await this.#readStore(from, limit);
        // A hint may have brought the same events in the meantime.
        const news = slice.events.filter((event) => event.position > this.#to);
        if (slice.events.length >= limit || slice.more) this.#suspect = true;
        if (slice.position > this.#to) this.#extend(news, slice.position);
      } catch (error) {
        this.#suspect = true;
        throw error;
      } finally {
        this.#reading = undefined;
      }
    })();
    await this.#reading;
  }

  async #readStore(after: Position, limit: number): Promise<LogSlice> {
    const page = await this.#store.readAll(after, limit);
    if (this.#store.gapless) this.#assertContiguous(after, page.events);
    return page;
  }

  #assertContiguous(after: Position, events: readonly StoredEvent[]): void {
    let last = after;
    for (const { position } of events) {
      if (position !== last + 1n) {
        const gap = new PositionGapError(last, position);
        this.#log.fatal({ after: String(last), found: String(position) }, gap.message);
        throw gap;
      }
      last = position;
    }
  }

  #extend(events: readonly StoredEvent[], to: Position): void {
    this.#recent.push(...events);
    this.#to = to;
    const lasting = events.findLast(({ type }) => this.#codec.isLasting(type));
    if (lasting) this.#mark = { position: lasting.position, id: lasting.id };
    this.#grownAt = Date.now();
    if (this.#recent.length > 2 * REMEMBERED) {
      // What comes after this position is still remembered.
      this.#from = this.#recent.at(-REMEMBERED - 1)!.position;
      this.#recent = this.#recent.slice(-REMEMBERED);
    }
    for (const { after, concerns, wake, passed } of this.#waiters) {
      if (!concerns || to - after > MAX_PASSED || events.some(({ type }) => concerns(type))) wake();
      else passed();
    }
  }

  #concernsSince(after: Position, concerns: WaitOptions['concerns']): boolean {
    if (after >= this.#to) return false;
    return (
      !concerns ||
      this.#to - after > MAX_PASSED ||
      this.#recent.slice(this.#indexAfter(after)).some(({ type }) => concerns(type))
    );
  }

  #slice(after: Position, limit: number): LogSlice {
    const events = this.#recent;
    const low = this.#indexAfter(after);
    const found = events.slice(low, low + limit);
    const complete = low + limit >= events.length;
    return { events: found, position: complete ? this.#to : found.at(-1)!.position };
  }

  #indexAfter(after: Position): number {
    let low = 0;
    let high = this.#recent.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#recent[middle]!.position > after) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
