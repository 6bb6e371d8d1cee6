import type { Logger } from 'pino';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore, AllStreamFilter, AppendNotification, StoredEvent } from '../eventstore/port.ts';
import { LogCut, type LogMark } from './log-cut.ts';
import { LogWindow, type LogSlice } from './log-window.ts';
import { assertContiguous } from './position-gap.ts';
import { isConcerned, LogWaiters, type WaitOptions } from './log-waiters.ts';

/** Events of the window that are searched for one tenant at once. */
const SEARCHED = 2_000;
/** Events that are read because of an announcement, before any subscriber asks for them. */
const ANNOUNCED = 500;
/** A hint may arrive before the response to the append that caused it. Wait this long for that response. */
const GRACE_MS = 5;
/** Records of others after the newest event, such as confirmations of its claims, are passed this soon. */
const BEHIND_MS = 100;

/**
 * The newest part of the log, kept in memory for all subscribers of this process. It grows by what the process
 * appends, and by what it reads when others have appended, or may have.
 */
export class CatchUpSubscription {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  readonly #log: Logger;
  #decoded = new WeakMap<StoredEvent, RecordedEvent | null>();
  #window: LogWindow;
  readonly cut = new LogCut();
  #mark: LogMark | undefined;
  #grownAt = Number.NEGATIVE_INFINITY;
  /** When the store was last asked for what follows the window. */
  #readAt = Number.NEGATIVE_INFINITY;
  #suspect = true;
  #reading: Promise<boolean> | undefined;
  #isReadingAnnounced = false;
  #isClosed = false;
  #behind: NodeJS.Timeout | undefined;
  readonly #waiters = new LogWaiters();
  readonly #unsubscribe: () => void;

  /** Begins at the store's current end. Subscribers that are further behind read the store directly. */
  static async open(store: EventStore, codec: EventCodec, log: Logger): Promise<CatchUpSubscription> {
    return new CatchUpSubscription(store, codec, log, await store.head());
  }

  private constructor(store: EventStore, codec: EventCodec, log: Logger, head: Position) {
    this.#store = store;
    this.#codec = codec;
    this.#log = log;
    this.#window = new LogWindow(head, (type) => this.#codec.isLasting(type));
    this.#unsubscribe = store.onGrowth((hint) => this.#hear(hint));
  }

  /** The newest position that this process knows of. */
  get head(): Position {
    return this.#window.head;
  }

  /** The end of the log, which another process may have moved. */
  readHead(): Promise<Position> {
    return this.#store.head();
  }

  /** The newest lasting event that this process has seen. */
  get mark(): LogMark | undefined {
    return this.#mark;
  }

  /**
   * Forgets what was read after this, and what reads in progress will bring: it may come from another log. What was decoded
   * is decoded again: keys may have been missing. Subscribers read on from their own positions.
   */
  returnTo({ head, mark }: Pick<CatchUpSubscription, 'head' | 'mark'>): void {
    this.#window = this.#window.upTo(head);
    this.#decoded = new WeakMap();
    this.#mark = mark;
    this.#suspect = true;
    this.#reading = undefined;
    this.#isReadingAnnounced = false;
    this.#waiters.wakeAll();
  }

  /** True when nothing has arrived for this many milliseconds. */
  quietFor(milliseconds: number): boolean {
    return performance.now() - this.#grownAt >= milliseconds;
  }

  /** The next events after a position, at most `limit`. Empty at the end of the log. */
  async read(after: Position, limit: number): Promise<LogSlice> {
    if (!this.#window.reachesBackTo(after)) return this.#readStore(after, limit);
    // Another process has moved this subscriber past the known end, so the log has grown.
    if (after > this.head || (after === this.head && this.#suspect)) await this.#readOn(limit);
    return after >= this.head ? { events: [], position: after } : this.#window.slice(after, limit);
  }

  /** The event at exactly this position. A log that drops expired events may no longer have it. */
  async eventAt(position: Position): Promise<RecordedEvent | undefined> {
    const stored = this.#window.at(position) ?? (await this.#store.eventAt(position));
    return stored && (await this.decode([stored]))[0];
  }

  /** The next events of one tenant and some types, read from the store. */
  readPart(after: Position, limit: number, filter: AllStreamFilter): Promise<LogSlice> {
    return this.#store.readAll(after, limit, filter);
  }

  /**
   * The next events of one tenant and some types: from memory, which all subscribers share, or from the store. Returns
   * fewer than `limit` events at the end of the log, or with `more`.
   */
  async readOf(after: Position, limit: number, filter: AllStreamFilter): Promise<LogSlice> {
    if (!this.#window.reachesBackTo(after)) return this.#store.readAll(after, limit, filter);
    const { events, position } = await this.read(after, SEARCHED);
    const types = new Set(filter.types);
    const own = events.filter(({ tenantId, type }) => tenantId === filter.tenantId && types.has(type)).slice(0, limit);
    return own.length === limit
      ? { events: own, position: own.at(-1)!.position, more: true }
      : { events: own, position, more: position < this.head };
  }

  /**
   * Resolves when the log may have grown past `after` by an event that `concerns` the subscriber. Also resolves after
   * `timeoutMs` milliseconds; the next read then polls the store, unless another subscriber's has just done so. With
   * `pause`, it resolves after `pause` milliseconds instead, without a poll.
   */
  async wait(after: Position, timeoutMs: number, options: WaitOptions = {}): Promise<void> {
    // A hint that arrived during the last read woke no waiter.
    if (this.#suspect || options.signal?.aborted || !this.#window.reachesBackTo(after)) return;
    if (isConcerned(after, this.#window, options.concerns)) return;
    const late = () => {
      if (performance.now() - this.#readAt >= timeoutMs / 2) this.#suspect = true;
    };
    await this.#waiters.wait(after, timeoutMs, options, { hasGrown: after < this.head, late });
  }

  /**
   * Returns decrypted and validated events. Each is decoded once, for all subscribers. An event that cannot be
   * decoded is undefined.
   */
  async decode(stored: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    const decoded = this.#decoded;
    const missing = stored.filter((event) => !decoded.has(event));
    if (missing.length > 0) {
      const fresh = await this.#codec.decodeForFollowers(missing);
      missing.forEach((event, index) => decoded.set(event, fresh[index] ?? null));
    }
    return stored.map((event) => decoded.get(event) ?? undefined);
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearTimeout(this.#behind);
    this.#waiters.wakeAll();
  }

  #hear(hint?: AppendNotification): void {
    const [first] = hint?.events ?? [];
    if (first && this.#store.gapless && first.position <= this.head)
      this.cut.compare(hint!.events!, this.head, this.#window);
    if (first && this.#store.gapless && first.position === this.head + 1n) {
      this.#extend(hint!.events!, hint!.events!.at(-1)!.position);
    } else if (hint?.head !== undefined && !hint.events) {
      if (hint.head > this.head) this.#announced(hint.head);
    } else {
      this.#suspectGrowth();
    }
  }

  #announced(head: Position): void {
    if (!this.#store.gapless) return this.#suspectGrowth();
    setTimeout(() => head > this.head && this.#suspectGrowth(), GRACE_MS).unref();
  }

  #suspectGrowth(): void {
    this.#suspect = true;
    if (!this.#waiters.areNone) void this.#readAnnounced();
  }

  /**
   * Reads first and wakes subscribers only for events that concern them: dozens of them share this process. If there is
   * much to read, or if the read fails, they read on by themselves.
   */
  async #readAnnounced(): Promise<void> {
    if (this.#isReadingAnnounced) return;
    this.#isReadingAnnounced = true;
    try {
      while (this.#suspect && !this.#isClosed) if (await this.#readOn(ANNOUNCED)) return this.#waiters.wakeAll();
    } catch {
      this.#waiters.wakeAll();
    } finally {
      this.#isReadingAnnounced = false;
    }
  }

  /** Returns true if more events are known to follow. */
  async #readOn(limit: number): Promise<boolean> {
    if (!this.#reading) {
      const reading = this.#readNext(limit).finally(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
      this.#reading = reading;
    }
    return this.#reading;
  }

  async #readNext(limit: number): Promise<boolean> {
    const window = this.#window;
    try {
      this.#suspect = false;
      this.#readAt = performance.now();
      const slice = await this.#readStore(window.head, limit);
      if (window !== this.#window) return false;
      // A hint may have brought the same events during the read.
      const news = slice.events.filter((event) => event.position > this.head);
      const isCut = slice.events.length >= limit || slice.more === true;
      if (isCut) this.#suspect = true;
      if (slice.position > this.head) this.#extend(news, slice.position);
      if (news.length > 0 && !this.#store.gapless) this.#lookBehind();
      return isCut;
    } catch (error) {
      this.#suspect = true;
      throw error;
    }
  }

  /** Not at once: nobody waits for these records, and the look would cost as much as reading the event did. */
  #lookBehind(): void {
    this.#behind ??= setTimeout(() => {
      this.#behind = undefined;
      this.#suspectGrowth();
    }, BEHIND_MS).unref();
  }

  async #readStore(after: Position, limit: number): Promise<LogSlice> {
    const page = await this.#store.readAll(after, limit);
    if (this.#store.gapless) this.#checkGaps(after, page.events);
    return page;
  }

  #checkGaps(after: Position, events: readonly StoredEvent[]): void {
    try {
      assertContiguous(after, events);
    } catch (error) {
      this.#log.fatal((error as Error).message);
      throw error;
    }
  }

  #extend(events: readonly StoredEvent[], to: Position): void {
    this.#window.extend(events, to);
    const lasting = events.findLast(({ type }) => this.#codec.isLasting(type));
    if (lasting) this.#mark = { position: lasting.position, id: lasting.id };
    this.#grownAt = performance.now();
    this.#waiters.grown(events, this.#window);
  }
}
