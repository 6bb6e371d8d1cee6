import type { Position } from '../kernel/event.ts';
import type { StoredEvent } from '../eventstore/port.ts';

/** A part of the log: everything after the requested position, up to and including `position`. */
export interface LogSlice {
  readonly events: readonly StoredEvent[];
  readonly position: Position;
  readonly more?: boolean;
}

/**
 * Weight of the events kept in memory. A burst of commands puts projections some thousand events behind; events that
 * are still in memory need not be read and parsed again. Telemetry events may hold hundreds of observations each.
 */
const MAX_CACHED = 6_000;
const TELEMETRY_WEIGHT = 3;

/** The newest events of the log, in memory. */
export class LogWindow {
  readonly #isLasting: (type: string) => boolean;
  #recent: StoredEvent[] = [];
  #weight = 0;
  #from: Position;
  #to: Position;

  /** `isLasting` returns whether events of a type are never dropped from the log, as telemetry is. */
  constructor(head: Position, isLasting: (type: string) => boolean) {
    this.#from = head;
    this.#to = head;
    this.#isLasting = isLasting;
  }

  /** The newest known position. */
  get head(): Position {
    return this.#to;
  }

  /** True if all known events after this position are in memory. */
  reachesBackTo(position: Position): boolean {
    return position >= this.#from;
  }

  extend(events: readonly StoredEvent[], to: Position): void {
    this.#recent.push(...events);
    this.#to = to;
    for (const event of events) this.#weight += this.#weightOf(event);
    if (this.#weight > 2 * MAX_CACHED) this.#dropOldest();
  }

  /** A copy of the part up to a position. */
  upTo(head: Position): LogWindow {
    const copy = new LogWindow(head, this.#isLasting);
    if (!this.reachesBackTo(head)) return copy;
    copy.#from = this.#from;
    copy.#recent = this.#recent.slice(0, this.#indexAfter(head));
    for (const event of copy.#recent) copy.#weight += this.#weightOf(event);
    return copy;
  }

  /** At most `limit` events after a position. */
  slice(after: Position, limit: number): LogSlice {
    const events = this.#recent;
    const low = this.#indexAfter(after);
    const found = events.slice(low, low + limit);
    const complete = low + limit >= events.length;
    return { events: found, position: complete ? this.#to : found.at(-1)!.position };
  }

  /** The event at exactly this position, if it is in memory. */
  at(position: Position): StoredEvent | undefined {
    const near = this.#recent[this.#indexAfter(position) - 1];
    return near?.position === position ? near : undefined;
  }

  /** How many events after a position are in memory. Positions do not tell: those of EventStoreDB are bytes. */
  countAfter(position: Position): number {
    return this.#recent.length - this.#indexAfter(position);
  }

  /** True if an event after this position is of a type that `concerns` accepts. */
  holdsAfter(position: Position, concerns: (type: string) => boolean): boolean {
    return this.#recent.slice(this.#indexAfter(position)).some(({ type }) => concerns(type));
  }

  #weightOf({ type }: StoredEvent): number {
    return this.#isLasting(type) ? 1 : TELEMETRY_WEIGHT;
  }

  #dropOldest(): void {
    let dropped = 0;
    while (this.#weight > MAX_CACHED) {
      this.#weight -= this.#weightOf(this.#recent[dropped]!);
      dropped += 1;
    }
    // Events after this position are still in memory.
    this.#from = this.#recent[dropped - 1]!.position;
    this.#recent = this.#recent.slice(dropped);
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
