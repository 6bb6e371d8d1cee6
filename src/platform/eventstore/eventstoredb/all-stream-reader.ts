import { START, type Position } from '../../kernel/event.ts';
import type { AllStreamFilter, AllStreamPage, StoredEvent } from '../port.ts';
import type { Connection } from './connection.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { decodeEvent, positionOfEvent } from './event-encoding.ts';
import { isTransient, mayDenyPosition } from './failures.ts';
import { scanLog, type LogScan } from './log-scan.ts';
import type { RawEvent, StreamReader } from './stream-reader.ts';
import { EVENT_STREAMS, eventStreamsOf } from './stream-names.ts';

/** A page that takes longer is given out as far as it has come: whoever follows the feed can write its checkpoint down. */
const LONGEST_LOOK_MS = 1_000;

/** A stretch of the log. */
interface Stretch<T> {
  readonly found: T[];
  /** How far the server has looked. */
  readonly position: Position;
  /** There may be more right behind it. */
  readonly more: boolean;
}

/** A stretch that came to the end of the log stands there. */
const upTo = <T>(end: Position, stretch: Stretch<T>): Stretch<T> =>
  !stretch.more && end > stretch.position ? { ...stretch, position: end } : stretch;

/** The one order over everything. The server leaves out claims and whatever others keep there; only what is asked for comes over the wire. */
export class AllStreamReader {
  readonly #connection: Connection;
  readonly #reader: StreamReader;
  readonly #timeoutMs: OperationTimeouts;
  /** The newest position at which an event of ours is known to stand. */
  #grownTo: Position = START;
  /** The end of the log, when it was last asked for. */
  #end: Position = START;

  constructor(connection: Connection, reader: StreamReader, timeoutMs: OperationTimeouts) {
    this.#connection = connection;
    this.#reader = reader;
    this.#timeoutMs = timeoutMs;
  }

  /** An event of ours stands there: it will be found, so a read need not ask for the end of the log to move past what is not ours. */
  heardOf(position: Position): void {
    if (position > this.#grownTo) this.#grownTo = position;
  }

  /** The next events after a position. A page without `more` that has fewer than `limit` events ends where the log ended. */
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

  /** The next events of the streams whose names match, as far as something can be made of them. */
  async scan<T>(
    after: Position,
    limit: number,
    streams: string,
    make: (raw: RawEvent) => T | undefined,
  ): Promise<Stretch<T>> {
    // An event that is committed while the scan is under way may lie before a position that is asked for afterwards.
    const end = this.#grownTo > after ? undefined : await this.#endAfter(after);
    if (end !== undefined && end <= after) return { found: [], position: after, more: false };
    const deadline = new Deadline(this.#timeoutMs);
    const known = end ?? this.#grownTo;
    let from = after;
    for (let tries = 1; ; tries += 1) {
      const stretch = await this.#look(
        { after: from, streams, timeoutMs: deadline.callMs() },
        after,
        known,
        limit,
        make,
      );
      if (!stretch.failure) return end === undefined ? this.#notYetTheEnd(after, stretch) : upTo(end, stretch);
      // What has come is a page as well.
      if (isTransient(stretch.failure) && stretch.position > after) return stretch;
      if (from === after && mayDenyPosition(stretch.failure)) {
        from = await this.#placeBefore(after, deadline);
        if (from !== after) continue;
      }
      if (!isTransient(stretch.failure)) throw stretch.failure;
      await deadline.pause(tries, stretch.failure);
    }
  }

  /** An end of the log that was seen before is good enough for whoever has not come to it: pages of a long history ask once. */
  async #endAfter(after: Position): Promise<Position> {
    if (this.#end <= after) this.#end = await this.head();
    return this.#end;
  }

  /** What lies behind the newest event of ours, such as a claim's confirmation, is passed by the next read, which asks for the end. */
  #notYetTheEnd<T>(after: Position, stretch: Stretch<T>): Stretch<T> {
    if (stretch.position > after) return { ...stretch, more: true };
    // The event that was heard of is not there: the log is another one.
    this.#grownTo = START;
    return stretch;
  }

  /**
   * Where to begin for what comes after a position. The server begins only where something was written; earlier versions of this service
   * kept places that were one less than the next event's, which stands right behind then. For any other place it is the beginning.
   */
  async #placeBefore(position: Position, deadline: Deadline): Promise<Position> {
    if (position === START || (await this.#reader.at(position, deadline)) !== 'nowhere') return position;
    const before = await this.#reader.before(position + 1n, deadline);
    return before === undefined || before === 'nowhere' ? START : positionOfEvent(before);
  }

  async #look<T>(
    scan: LogScan,
    after: Position,
    known: Position,
    limit: number,
    make: (raw: RawEvent) => T | undefined,
  ): Promise<Stretch<T> & { readonly failure?: unknown }> {
    const found: T[] = [];
    const due = performance.now() + LONGEST_LOOK_MS;
    let position = after;
    let more = false;
    const goOn = () => !(more = found.length >= limit || (position > after && performance.now() > due));
    const visitor = {
      event: (scanned: unknown) => {
        const raw = scanned as RawEvent;
        if (positionOfEvent(raw) <= after) return true;
        const made = make(raw);
        position = positionOfEvent(raw);
        if (made !== undefined) found.push(made);
        return goOn();
      },
      passed: (reached: Position) => {
        // A checkpoint names the beginning of the page that was looked at. At the end of the log the next event will stand there.
        const sure = reached < known ? reached : known;
        if (sure > position) position = sure;
        return goOn();
      },
    };
    try {
      await scanLog(this.#connection, scan, visitor);
      return { found, position, more };
    } catch (failure) {
      return { found, position, more: true, failure };
    }
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
