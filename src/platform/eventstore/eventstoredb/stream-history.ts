import { END } from '@eventstore/db-client';
import type { StoredEvent } from '../port.ts';
import type { Deadline } from './deadline.ts';
import { decodeEvent } from './event-encoding.ts';
import type { StreamReader } from './stream-reader.ts';

const PAGE = 500;

/** Reads the application's own events of a stream, skipping all others (such as fences). */
export class StreamHistory {
  readonly #reader: StreamReader;

  constructor(reader: StreamReader) {
    this.#reader = reader;
  }

  /** Reads from a revision (inclusive) on. `end` is the revision of the last event that was examined. */
  async since(
    stream: string,
    from: bigint,
    limit: number,
    deadline?: Deadline,
  ): Promise<{ events: StoredEvent[]; end: bigint }> {
    const events: StoredEvent[] = [];
    for (let end = from - 1n; ;) {
      const count = Math.min(limit - events.length, PAGE);
      const page = count > 0 ? await this.#reader.forwards(stream, end + 1n, count, deadline) : [];
      events.push(...page.map(decodeEvent).filter((event) => event !== undefined));
      end = page.at(-1)?.revision ?? end;
      if (page.length < count || count <= 0) return { events, end };
    }
  }

  /** Returns the newest events, oldest first. */
  async tail(stream: string, limit: number): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let from: bigint | typeof END = END; ;) {
      const count = Math.min(limit - events.length, PAGE);
      const page: Awaited<ReturnType<StreamReader['backwards']>> =
        count > 0 ? await this.#reader.backwards(stream, from, count) : [];
      events.push(...page.map(decodeEvent).filter((event) => event !== undefined));
      const oldest = page.at(-1)?.revision ?? 0n;
      if (page.length < count || count <= 0 || oldest === 0n) return events.reverse();
      from = oldest - 1n;
    }
  }
}
