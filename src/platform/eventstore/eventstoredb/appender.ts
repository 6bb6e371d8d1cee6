import { EventStoreUnavailable, type Append, type StoredEvent, type AppendResult } from '../port.ts';
import { ClaimReservations, type ClaimRequest } from './claim-reservations.ts';
import type { ClaimRegister } from './claim-register.ts';
import { claimStream } from './claim-stream.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { encodeEvents } from './event-encoding.ts';
import type { OutgoingEvent } from './outgoing-event.ts';
import type { StreamHistory } from './stream-history.ts';
import type { StreamWriter } from './stream-writer.ts';

/** An append ready to send, with its claims by the names of their streams. */
interface Prepared {
  readonly append: Append;
  readonly events: readonly OutgoingEvent[];
  /** Without duplicates and sorted, so that two appends never wait for each other. */
  readonly take: readonly ClaimRequest[];
  /** Claims that are released and not claimed again. */
  readonly released: readonly string[];
}

/**
 * Reserves the claims, appends, and returns: by then everything that matters is in the log. The note that a claim was
 * released only speeds up look-ups, so it is written afterwards. After an unknown outcome nothing is undone: later
 * readers of a leftover reservation find the truth in the stream (`ClaimRegister`), and the caller may append the same
 * events again.
 */
export class Appender {
  readonly #writer: StreamWriter;
  readonly #history: StreamHistory;
  readonly #claims: ClaimRegister;
  readonly #reservations: ClaimReservations;
  readonly #timeouts: OperationTimeouts;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(writer: StreamWriter, history: StreamHistory, claims: ClaimRegister, timeouts: OperationTimeouts) {
    this.#writer = writer;
    this.#history = history;
    this.#claims = claims;
    this.#timeouts = timeouts;
    this.#reservations = new ClaimReservations(claims, timeouts, (work) => void this.#track(work));
  }

  append(append: Append): Promise<AppendResult> {
    return this.#track(this.#append(append));
  }

  /** Resolves when no work is running, including work that follows an append. */
  async drain(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #append(append: Append): Promise<AppendResult> {
    const prepared = prepare(append);
    const leftMs = (append.until ?? Number.POSITIVE_INFINITY) - performance.now();
    if (leftMs <= 0) throw new EventStoreUnavailable('the append waited until its caller gave up');
    const deadline = new Deadline({ ...this.#timeouts, totalMs: Math.min(this.#timeouts.totalMs, leftMs) });
    const firstEventId = append.events[0]!.id.toLowerCase();
    const since = () =>
      this.#history.since(append.stream, append.expectedRevision + 1n, append.events.length, deadline);
    for (let expected = append.expectedRevision; ;) {
      const taking = { holder: append.stream, eventId: firstEventId, revision: expected + 1n };
      const reservations =
        prepared.take.length === 0 ? [] : await this.#reservations.reserve(prepared.take, taking, deadline);
      if ('holder' in reservations)
        return appendedBefore(append, (await since()).events) ?? { kind: 'claimed', ...reservations };
      const outcome = await this.#writer.write(append.stream, expected, prepared.events, deadline);
      if (outcome.kind === 'written') {
        if (prepared.released.length > 0) void this.#track(this.#noteReleases(prepared.released));
        return { kind: 'appended', revision: outcome.revision, position: outcome.position };
      }
      const [{ events, end }] = await Promise.all([since(), this.#reservations.giveBack(reservations, deadline)]);
      const onlyFences = events.length === 0 && outcome.actual > expected && end >= outcome.actual;
      if (!onlyFences) return appendedBefore(append, events) ?? outcome;
      // Readers do not see fences, so the caller could not know this revision.
      expected = outcome.actual;
    }
  }

  /** The releasing event is already written. If a note fails here, the next claimer or the sweep writes it. */
  #noteReleases(released: readonly string[]): Promise<unknown> {
    const deadline = new Deadline(this.#timeouts);
    return Promise.allSettled(released.map((name) => this.#claims.settle(name, deadline)));
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }
}

function prepare(append: Append): Prepared {
  const take = new Map(append.claim.map((claim) => [claimStream(claim), claim]));
  const release = new Set(append.release.map(claimStream));
  const taken = [...take.keys()].sort();
  const released = [...release].filter((name) => !take.has(name));
  return {
    append,
    events: encodeEvents(append, { taken, released }),
    take: taken.map((name) => ({ name, claim: take.get(name)!, isReleased: release.has(name) })),
    released,
  };
}

/** The same ids at the same revisions: this append already happened, and its response was lost. */
function appendedBefore({ events }: Append, there: readonly StoredEvent[]): AppendResult | undefined {
  const last = there.at(-1);
  if (!last || there.length !== events.length) return undefined;
  if (there.some(({ id }, at) => id !== events[at]!.id.toLowerCase())) return undefined;
  return { kind: 'appended', revision: last.revision, position: last.position };
}
