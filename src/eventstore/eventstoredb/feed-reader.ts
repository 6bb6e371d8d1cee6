import type { Position } from '../../kernel/event.ts';
import type { FeedFilter, FeedPage, StoredEvent } from '../port.ts';
import { decodeEvent, positionOfEvent } from './event-encoding.ts';
import type { RawEvent, StreamReader } from './stream-reader.ts';

const LEAST = 64;
const MOST = 1000;

const wanted = ({ tenantId, type }: StoredEvent, filter: FeedFilter | undefined): boolean =>
  filter === undefined || (tenantId === filter.tenantId && filter.types.includes(type));

/** The one order over everything, without what is not the house's own. */
export class FeedReader {
  readonly #reader: StreamReader;

  constructor(reader: StreamReader) {
    this.#reader = reader;
  }

  /** Looks on until it has found `limit` events or the end: a shorter page means that the log ends there. */
  async read(after: Position, limit: number, filter?: FeedFilter): Promise<FeedPage> {
    const events: StoredEvent[] = [];
    let position = after;
    for (;;) {
      const page = await this.scan(position, limit - events.length);
      for (const raw of page.events) {
        const event = decodeEvent(raw);
        position = positionOfEvent(raw);
        if (event && wanted(event, filter)) events.push(event);
        if (events.length >= limit) return { events, position };
      }
      if (page.last) return { events, position };
    }
  }

  /** The next events of any kind strictly after a position; `last` when there are no more for now. */
  async scan(after: Position, wanted: number): Promise<{ events: RawEvent[]; last: boolean }> {
    const count = Math.min(Math.max(wanted + 1, LEAST), MOST);
    const page = await this.#reader.all(after, count);
    // The server begins with the event at the position itself.
    return { events: page.filter((event) => positionOfEvent(event) > after), last: page.length < count };
  }

  async idAt(position: Position): Promise<string | undefined> {
    const [found] = await this.#reader.all(position, 1);
    return found && positionOfEvent(found) === position ? found.id : undefined;
  }

  async head(): Promise<Position> {
    const newest = await this.#reader.newest();
    return newest ? positionOfEvent(newest) : 0n;
  }
}
