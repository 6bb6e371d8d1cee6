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

/** Says whose unfinished copy stands on the server. Its name fits no filter: no reader of events sees it. */
const COPY_STREAM = 'castellan-log-copy';
const MAX_EVENTS = 500;

export interface HeldClaim extends ClaimKey {
  readonly holder: string;
}

/**
 * Writes a log that comes from another store. Events keep id, revision and order; their time is carried in their metadata, since the
 * server stamps its own. One append follows the other, because the server knows no order between two that are under way together.
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

  /** The id of the copy that was begun here, `empty`, or `used` by something else that would be mistaken for events of the copy. */
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
   * A claim of the other store, which does not say by which event it was taken: the newest event that was copied stands for it.
   * False while no event of its holder has been copied.
   */
  async holdClaim({ holder, ...claim }: HeldClaim): Promise<boolean> {
    const [newest] = await this.#store.reader.backwards(holder, END, 1);
    if (!newest) return false;
    await this.#say(claimStream(claim), copiedClaim({ holder, eventId: newest.id, revision: newest.revision }));
    return true;
  }

  async freeClaim({ holder, ...claim }: HeldClaim): Promise<void> {
    await this.#say(claimStream(claim), releasedClaim(holder));
  }

  /** The server counts from the moment of the copy, which is later than the events are. */
  async retain(stream: string, seconds: number): Promise<void> {
    await setStreamMetadata(this.#store, stream, '$maxAge', Math.max(1, Math.floor(seconds)));
  }

  /** Makes a claim's newest word this one. */
  async #say(stream: string, word: JSONEventData): Promise<void> {
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
      // A copy that went on after a crash: these were written before it could be noted down.
      if (there.length === events.length && there.every(({ id }, at) => id === events[at]!.id.toLowerCase())) return;
      throw new Error(`${stream} has other events at revision ${revision} than the log that is copied`);
    }
    await this.#fill(stream, outcome.actual + 1n, revision);
    const again = await writer.write(stream, revision - 1n, events, new Deadline(this.#timeoutMs));
    if (again.kind !== 'written') throw new Error(`${stream} was written to by somebody else during the copy`);
  }

  /** Places of events that have expired: something has to stand there, and no reader sees it. */
  async #fill(stream: string, from: bigint, to: bigint): Promise<void> {
    for (let next = from; next < to;) {
      const end = next + BigInt(MAX_EVENTS) < to ? next + BigInt(MAX_EVENTS) : to;
      const fences: JSONEventData[] = [];
      for (let at = next; at < end; at += 1n) {
        const id = uuidOf(createHash('sha256').update(`${stream}@${at}`).digest());
        fences.push({ ...fence({ holder: stream, eventId: id, revision: at }), id });
      }
      const outcome = await this.#store.writer.write(stream, next - 1n, fences, new Deadline(this.#timeoutMs));
      if (outcome.kind !== 'written') throw new Error(`${stream} was written to by somebody else during the copy`);
      next = end;
    }
  }
}

/** Events that follow each other in one stream, as many as fit into one append. */
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
