import { START, type Position } from '../../kernel/event.ts';
import type { AllStreamFilter, AllStreamPage, StoredEvent } from '../port.ts';
import type { Connection } from './connection.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { decodeEvent, positionOfEvent } from './event-encoding.ts';
import { isTransient, mayDenyPosition } from './failures.ts';
import { LogScan, type LogScanRequest, type VisitEnd } from './log-scan.ts';
import { PageVisitor } from './page-visitor.ts';
import { PausedScans, type PausedScan } from './paused-scans.ts';
import type { RawEvent, StreamReader } from './stream-reader.ts';
import { EVENT_STREAMS, eventStreamsOf } from './stream-names.ts';

/** Readers of smaller pages look for something once. Nobody will ask for what comes next. */
const LEAST_LIMIT_TO_PAUSE = 100;

/** An announced event this close is read together with the records of others before it, which are few. */
const NEAR_BYTES = 64n * 1024n;
const NEAR_RECORDS = 500;

/** A part of the log. */
interface Stretch<T> {
  readonly found: T[];
  /** How far the server has looked. */
  readonly position: Position;
  /** There may be more events directly after it. */
  readonly more: boolean;
}

/** A stretch that reached the end of the log has the end as its position. */
const upTo = <T>(end: Position, stretch: Stretch<T>): Stretch<T> =>
  !stretch.more && end > stretch.position ? { ...stretch, position: end } : stretch;

/**
 * Reads the `$all` stream. The server filters out claims and events of other applications; only requested streams are
 * sent.
 */
export class AllStreamReader {
  readonly #connection: Connection;
  readonly #reader: StreamReader;
  readonly #timeoutMs: OperationTimeouts;
  readonly #paused = new PausedScans();
  /** The newest position at which one of our events is known to be. */
  #grownTo: Position = START;
  /** The end of the log when it was last read. */
  #end: Position = START;
  /** How often a connection was lost. */
  #interruptions = 0;

  constructor(connection: Connection, reader: StreamReader, timeoutMs: OperationTimeouts) {
    this.#connection = connection;
    this.#reader = reader;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Reports one of our events at this position. A read will find it, so it need not ask for the end of the log to move
   * past events of others.
   */
  heardOf(position: Position): void {
    if (position > this.#grownTo) this.#grownTo = position;
  }

  /**
   * Returns the next events after a position. A page without `more` and with fewer than `limit` events ends at the end
   * of the log.
   */
  async read(after: Position, limit: number, filter?: AllStreamFilter): Promise<AllStreamPage> {
    const streams = filter ? eventStreamsOf(filter.tenantId) : EVENT_STREAMS;
    const types = filter && new Set(filter.types);
    const { found, position, more } = await this.scan(after, limit, streams, (raw) => {
      if (types && !types.has(raw.type)) return undefined;
      const event = decodeEvent(raw);
      return filter && event?.tenantId !== filter.tenantId ? undefined : event;
    });
    return { events: found, position, ...(more ? { more } : {}) };
  }

  /**
   * Returns what `make` returns for the next events of the matching streams; undefined results are left out. Reads again
   * if a connection was lost meanwhile: the end may be that of one server, and the events those of another.
   */
  async scan<T>(
    after: Position,
    limit: number,
    streams: string,
    make: (raw: RawEvent) => T | undefined,
  ): Promise<Stretch<T>> {
    for (;;) {
      const interruptions = this.#interruptions;
      const stretch = await this.#scan(after, limit, streams, make);
      if (interruptions === this.#interruptions) return stretch;
    }
  }

  async #scan<T>(
    after: Position,
    limit: number,
    streams: string,
    make: (raw: RawEvent) => T | undefined,
  ): Promise<Stretch<T>> {
    // Read the end before the scan: an event that is committed during the scan may be before an end that is read later.
    const end = this.#grownTo > after ? undefined : await this.#endAfter(after);
    if (end !== undefined && end <= after) return { found: [], position: after, more: false };
    const deadline = new Deadline(this.#timeoutMs);
    const found =
      (await this.#continue(after, limit, streams, make)) ??
      (await this.#nearby(after, limit, streams, make, deadline));
    if (found) return found;
    const known = end ?? this.#grownTo;
    const stretch = await this.#scanPersistently({ after, streams }, known, limit, make, deadline);
    return end === undefined ? this.#notYetTheEnd(after, stretch) : upTo(end, stretch);
  }

  async #scanPersistently<T>(
    { after, streams }: Pick<LogScanRequest, 'after' | 'streams'>,
    known: Position,
    limit: number,
    make: (raw: RawEvent) => T | undefined,
    deadline: Deadline,
  ): Promise<Stretch<T>> {
    let from = after;
    for (let tries = 1; ; tries += 1) {
      const request = { after: from, streams, timeoutMs: deadline.callMs() };
      const stretch = await this.#scanOnce(request, after, known, limit, make);
      if (!stretch.failure) return stretch;
      // The events so far are a valid page.
      if (isTransient(stretch.failure) && stretch.position > after) return stretch;
      if (from === after && mayDenyPosition(stretch.failure)) {
        from = await this.#startBefore(after, deadline);
        if (from !== after) continue;
      }
      if (!isTransient(stretch.failure)) throw stretch.failure;
      await deadline.pause(tries, stretch.failure);
    }
  }

  /**
   * Pages of a long history read the end only once: an end that was read earlier is good enough until it is reached.
   */
  async #endAfter(after: Position): Promise<Position> {
    if (this.#end > after) return this.#end;
    const interruptions = this.#interruptions;
    const end = await this.head();
    if (interruptions === this.#interruptions) this.#end = end;
    return end;
  }

  /**
   * Records after our newest event, such as a claim's confirmation, are passed by a later read, which asks for the end.
   */
  #notYetTheEnd<T>(after: Position, stretch: Stretch<T>): Stretch<T> {
    if (stretch.position > after) return stretch;
    // The announced event is not there: the log is another one.
    this.#grownTo = START;
    return stretch;
  }

  /**
   * Where to start reading for events after a position. The server only accepts positions where something was written.
   * Earlier versions of this service stored checkpoints one less than the next event's position; then that event
   * directly follows. For any other position it is the beginning of the log.
   */
  async #startBefore(position: Position, deadline: Deadline): Promise<Position> {
    if (position === START || (await this.#reader.at(position, deadline)) !== 'nowhere') return position;
    const before = await this.#reader.before(position + 1n, deadline);
    return before === undefined || before === 'nowhere' ? START : positionOfEvent(before);
  }

  /**
   * The next page of a scan that is paused at this position. Undefined if there is none, or if it has nothing more: where
   * the log ends, only a scan that began after the end was read can tell.
   */
  async #continue<T>(
    after: Position,
    limit: number,
    streams: string,
    make: (raw: RawEvent) => T | undefined,
  ): Promise<Stretch<T> | undefined> {
    const paused = this.#paused.take(streams, after);
    if (!paused) return undefined;
    const page = new PageVisitor(after, paused.known, limit, make);
    const end = await paused.scan.goOn(page).catch(() => 'failed' as const);
    if (end === 'stopped') this.#pause(paused, streams, page.position, limit);
    return page.position > after ? { found: page.found, position: page.position, more: true } : undefined;
  }

  /** Up to an announced event that is near. Undefined if none is, or if the read brings nothing: a scan then decides. */
  async #nearby<T>(
    after: Position,
    limit: number,
    streams: string,
    make: (raw: RawEvent) => T | undefined,
    deadline: Deadline,
  ): Promise<Stretch<T> | undefined> {
    const announced = this.#grownTo;
    if (announced <= after || announced - after > NEAR_BYTES) return undefined;
    const request = { after, streams, timeoutMs: deadline.callMs(), records: NEAR_RECORDS };
    const { found, position, more } = await this.#scanOnce(request, after, announced, limit, make);
    return position > after ? { found, position, more } : undefined;
  }

  async #scanOnce<T>(
    request: LogScanRequest,
    after: Position,
    known: Position,
    limit: number,
    make: (raw: RawEvent) => T | undefined,
  ): Promise<Stretch<T> & { readonly failure?: unknown }> {
    const page = new PageVisitor(after, known, limit, make);
    let end: VisitEnd;
    try {
      const started = await LogScan.start(this.#connection, request, page);
      ({ end } = started);
      if (end === 'stopped') this.#pause({ scan: started.scan, known }, request.streams, page.position, limit);
    } catch (failure) {
      return { found: page.found, position: page.position, more: true, failure };
    }
    return { found: page.found, position: page.position, more: end === 'stopped' };
  }

  #pause(paused: PausedScan, streams: string, position: Position, limit: number): void {
    if (limit >= LEAST_LIMIT_TO_PAUSE) this.#paused.keep(streams, position, paused);
    else paused.scan.close();
  }

  /** After a lost connection the log may be another one, with another end. */
  forgetEnd(): void {
    this.#interruptions += 1;
    this.#grownTo = START;
    this.#end = START;
  }

  /** Ends the scans that wait for a next page. */
  close(): void {
    this.#paused.close();
  }

  async idAt(position: Position): Promise<string | undefined> {
    return (await this.#rawAt(position))?.id;
  }

  async eventAt(position: Position): Promise<StoredEvent | undefined> {
    const raw = await this.#rawAt(position);
    return raw && decodeEvent(raw);
  }

  async #rawAt(position: Position): Promise<RawEvent | undefined> {
    const found = await this.#reader.at(position);
    return found !== undefined && found !== 'nowhere' && positionOfEvent(found) === position ? found : undefined;
  }

  async head(): Promise<Position> {
    const newest = await this.#reader.newest();
    return newest ? positionOfEvent(newest) : START;
  }
}
