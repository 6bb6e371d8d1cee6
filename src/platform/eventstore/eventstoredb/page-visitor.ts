import type { Position } from '../../kernel/event.ts';
import { positionOfEvent } from './event-encoding.ts';
import type { LogScanVisitor } from './log-scan.ts';
import type { RawEvent } from './stream-reader.ts';

/** A page that takes longer is returned as far as it has come, so that the reader can save its checkpoint. */
const MAX_PAGE_MS = 1_000;

/** Collects a page: at most `limit` results, and what can be found in `MAX_PAGE_MS`. */
export class PageVisitor<T> implements LogScanVisitor {
  readonly found: T[] = [];
  position: Position;
  readonly #after: Position;
  readonly #known: Position;
  readonly #limit: number;
  readonly #make: (raw: RawEvent) => T | undefined;
  readonly #until = performance.now() + MAX_PAGE_MS;

  constructor(after: Position, known: Position, limit: number, make: (raw: RawEvent) => T | undefined) {
    this.position = after;
    this.#after = after;
    this.#known = known;
    this.#limit = limit;
    this.#make = make;
  }

  event(scanned: unknown): boolean {
    const raw = scanned as RawEvent;
    if (positionOfEvent(raw) <= this.#after) return true;
    const made = this.#make(raw);
    this.position = positionOfEvent(raw);
    if (made !== undefined) this.found.push(made);
    return this.#goesOn;
  }

  /**
   * A checkpoint names the start of the page that the server looked at. At the end of the log the next event will be
   * there.
   */
  passed(reached: Position): boolean {
    const sure = reached < this.#known ? reached : this.#known;
    if (sure > this.position) this.position = sure;
    return this.#goesOn;
  }

  get #goesOn(): boolean {
    const isFull = this.found.length >= this.#limit;
    return !isFull && (this.position === this.#after || performance.now() <= this.#until);
  }
}
