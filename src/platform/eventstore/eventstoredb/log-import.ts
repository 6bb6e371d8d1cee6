import { createHash } from 'node:crypto';
import { END, type JSONEventData } from '@eventstore/db-client';
import { uuidOf } from '../../kernel/ids.ts';
import { MAX_APPEND_BYTES, type ClaimKey, type StoredEvent } from '../port.ts';
import { claimStream, copiedClaim, fence, releasedClaim } from './claim-stream.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { encodeCopied } from './event-encoding.ts';
import type { AllStreamReader } from './all-stream-reader.ts';
import { setStreamMetadata, type StoreAccess } from './stream-metadata.ts';
import { EVENT_AND_CLAIM_STREAMS } from './stream-names.ts';

/** Identifies the unfinished copy on the server. Its name matches no filter, so readers of events never see it. */
const COPY_STREAM = 'castellan-log-copy';
const MAX_EVENTS = 500;

export interface HeldClaim extends ClaimKey {
  readonly holder: string;
}

/**
 * Writes a log from another store. Events keep id, revision and order. Their time is kept in their metadata, since the
 * server records its own. Appends are sequential, because the server does not preserve the order of concurrent ones.
 */
export class LogImport {
  readonly #store: StoreAccess;
  readonly #feed: AllStreamReader;
  readonly #timeoutMs: OperationTimeouts;

  constructor(store: StoreAccess, feed: AllStreamReader) {
    this.#store = store;
    this.#feed = feed;
    this.#timeoutMs = store.patience;
  }

  /**
   * Returns the id of the copy that was begun here, `empty`, or `used` if there is other data that would be mistaken
   * for events of the copy.
   */
  async content(): Promise<{ readonly copy: string } | 'empty' | 'used'> {
    const [begun] = await this.#store.reader.forwards(COPY_STREAM, 0n, 1);
    if (begun) return { copy: (begun.data as { copy: string }).copy };
    for (let after = 0n; ;) {
      const { found, position, more } = await this.#feed.scan(after, 1, EVENT_AND_CLAIM_STREAMS, (raw) => raw);
      if (found.length > 0) return 'used';
      if (!more) return 'empty';
      after = position;
    }
  }

  async begin(copy: string): Promise<void> {
    const event = {
      id: copy,
      type: 'LogCopyBegun',
      contentType: 'application/json' as const,
      data: { copy },
      metadata: undefined,
    };
    await this.#store.writer.write(COPY_STREAM, -1n, [event], new Deadline(this.#timeoutMs));
  }

  async write(events: readonly StoredEvent[]): Promise<void> {
    for (let from = 0; from < events.length;) {
      const run = runAt(events, from);
      await this.#append(run.stream, run.revision, run.encoded);
      from += run.encoded.length;
    }
  }

  /**
   * Writes a claim of the other store. That store does not tell which event claimed it, so the holder's newest copied
   * event is used. Returns false while no event of its holder has been copied.
   */
  async holdClaim({ holder, ...claim }: HeldClaim): Promise<boolean> {
    const [newest] = await this.#store.reader.backwards(holder, END, 1);
    if (!newest) return false;
    await this.#writeLast(claimStream(claim), copiedClaim({ holder, eventId: newest.id, revision: newest.revision }));
    return true;
  }

  async freeClaim({ holder, ...claim }: HeldClaim): Promise<void> {
    await this.#writeLast(claimStream(claim), releasedClaim(holder));
  }

  /** The server counts from the time of the copy, which is later than that of the events. */
  async retain(stream: string, seconds: number): Promise<void> {
    await setStreamMetadata(this.#store, stream, '$maxAge', Math.max(1, Math.floor(seconds)));
  }

  /** Makes `word` the newest event of a claim's stream. */
  async #writeLast(stream: string, word: JSONEventData): Promise<void> {
    const deadline = new Deadline(this.#timeoutMs);
    for (;;) {
      const [last] = await this.#store.reader.backwards(stream, END, 1, deadline);
      const outcome = await this.#store.writer.write(stream, last?.revision ?? -1n, [word], deadline);
      if (outcome.kind === 'written') return;
    }
  }

  async #append(stream: string, revision: bigint, events: JSONEventData[]): Promise<void> {
    const deadline = new Deadline(this.#timeoutMs);
    const { writer } = this.#store;
    const outcome = await writer.write(stream, revision - 1n, events, deadline);
    if (outcome.kind === 'written') return;
    if (outcome.actual >= revision - 1n) {
      const there = await this.#store.reader.forwards(stream, revision, events.length, deadline);
      // After a crash the copy repeats events that were already written.
      if (there.length === events.length && there.every(({ id }, at) => id === events[at]!.id.toLowerCase())) return;
      throw new Error(`${stream} has other events at revision ${revision} than the log to copy`);
    }
    await this.#fillWithFences(stream, outcome.actual + 1n, revision);
    const again = await writer.write(stream, revision - 1n, events, new Deadline(this.#timeoutMs));
    if (again.kind !== 'written') throw new Error(`another writer changed ${stream} during the copy`);
  }

  /** Fills the revisions of expired events with fences, which readers do not see. */
  async #fillWithFences(stream: string, from: bigint, to: bigint): Promise<void> {
    for (let next = from; next < to;) {
      const end = next + BigInt(MAX_EVENTS) < to ? next + BigInt(MAX_EVENTS) : to;
      const fences: JSONEventData[] = [];
      for (let at = next; at < end; at += 1n) {
        const id = uuidOf(createHash('sha256').update(`${stream}@${at}`).digest());
        fences.push({ ...fence({ holder: stream, eventId: id, revision: at }), id });
      }
      const outcome = await this.#store.writer.write(stream, next - 1n, fences, new Deadline(this.#timeoutMs));
      if (outcome.kind !== 'written') throw new Error(`another writer changed ${stream} during the copy`);
      next = end;
    }
  }
}

/** Returns consecutive events of one stream, as many as fit into one append. */
function runAt(
  events: readonly StoredEvent[],
  from: number,
): { stream: string; revision: bigint; encoded: JSONEventData[] } {
  const { stream, revision } = events[from]!;
  const encoded: JSONEventData[] = [];
  let bytes = 0;
  for (let at = from; at < events.length && encoded.length < MAX_EVENTS; at += 1) {
    const event = events[at]!;
    if (event.stream !== stream || event.revision !== revision + BigInt(at - from)) break;
    const { event: next, size } = encodeCopied(event);
    if (encoded.length > 0 && bytes + size > MAX_APPEND_BYTES) break;
    encoded.push(next);
    bytes += size;
  }
  return { stream, revision, encoded };
}
