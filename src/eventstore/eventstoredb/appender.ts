import type { JSONEventData } from '@eventstore/db-client';
import type { Append, ClaimKey, StoredEvent, Verdict } from '../port.ts';
import type { ClaimRegister, Reservation } from './claim-register.ts';
import { claimStream } from './claim-stream.ts';
import { Deadline, type Patience } from './deadline.ts';
import { encodeEvents } from './event-encoding.ts';
import type { StreamHistory } from './stream-history.ts';
import type { StreamReader } from './stream-reader.ts';
import type { StreamWriter, Written } from './stream-writer.ts';

/** An append as it is sent, with its claims under the names of their streams. */
interface Prepared {
  readonly append: Append;
  readonly events: JSONEventData[];
  /** Each once, and in one order for everybody, so that two appends never wait for each other. */
  readonly take: readonly (readonly [name: string, claim: ClaimKey])[];
  readonly release: ReadonlySet<string>;
  /** What is released and not taken again. */
  readonly released: readonly string[];
}

/**
 * Reserves the claims, appends, confirms. Nothing is taken back after an unknown outcome: whoever meets what was left behind
 * finds the truth in the stream (`ClaimRegister`), and the caller may append the same events again.
 */
export class Appender {
  readonly #writer: StreamWriter;
  readonly #reader: StreamReader;
  readonly #history: StreamHistory;
  readonly #claims: ClaimRegister;
  readonly #patience: Patience;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(writer: StreamWriter, reader: StreamReader, history: StreamHistory, claims: ClaimRegister, patience: Patience) {
    this.#writer = writer;
    this.#reader = reader;
    this.#history = history;
    this.#claims = claims;
    this.#patience = patience;
  }

  append(append: Append): Promise<Verdict> {
    return this.#track(this.#append(append));
  }

  /** Resolves when nothing is under way any more. */
  async drain(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #append(append: Append): Promise<Verdict> {
    const prepared = prepare(append);
    const deadline = new Deadline(this.#patience);
    for (let expected = append.expectedRevision; ; ) {
      const reservations = await this.#reserveAll(prepared, expected, deadline);
      if ('kind' in reservations) {
        const { events } = await this.#history.since(append.stream, append.expectedRevision + 1n, append.events.length, deadline);
        return appendedBefore(append, events) ?? reservations;
      }
      const outcome = await this.#writer.write(append.stream, expected, prepared.events, deadline);
      if (outcome.kind === 'written') return this.#conclude(prepared, reservations, outcome, deadline);
      await this.#giveBack(reservations, deadline);
      const { events, end } = await this.#history.since(append.stream, append.expectedRevision + 1n, append.events.length, deadline);
      const onlyFences = events.length === 0 && outcome.actual > expected && end >= outcome.actual;
      if (!onlyFences) return appendedBefore(append, events) ?? outcome;
      // What no reader sees is nothing that the caller could have decided on.
      expected = outcome.actual;
    }
  }

  /** All of them, or the verdict that one is held by somebody else; then what was reserved is given back. */
  async #reserveAll({ append, events, take, release }: Prepared, expected: bigint, deadline: Deadline): Promise<Reservation[] | Verdict> {
    const taking = { holder: append.stream, eventId: events[0]!.id.toLowerCase(), revision: expected + 1n };
    const reservations: Reservation[] = [];
    try {
      for (const [name, claim] of take) {
        const outcome = await this.#claims.reserve(name, taking, deadline);
        if ('at' in outcome) {
          reservations.push(outcome);
        } else if (outcome.holder !== append.stream || !release.has(name)) {
          await this.#giveBack(reservations, deadline);
          return { kind: 'claimed', claim, holder: outcome.holder };
        }
      }
      return reservations;
    } catch (error) {
      void this.#track(this.#giveBack(reservations, new Deadline(this.#patience)));
      throw error;
    }
  }

  /** What cannot be given back now is given up later: its place in the stream is taken, or will be fenced. */
  async #giveBack(reservations: readonly Reservation[], deadline: Deadline): Promise<void> {
    await Promise.allSettled(reservations.map((reservation) => this.#claims.giveBack(reservation, deadline)));
  }

  /** The events are written: whatever fails from here on is made good by the next taker or by the sweep. */
  async #conclude({ append, released }: Prepared, reservations: Reservation[], written: Written, deadline: Deadline): Promise<Verdict> {
    const [last] = await Promise.allSettled([
      this.#reader.forwards(append.stream, written.revision, 1, deadline),
      ...reservations.map((reservation) => this.#claims.confirm(reservation, deadline)),
      ...released.map((name) => this.#claims.settle(name, deadline)),
    ]);
    const recorded = last.status === 'fulfilled' ? last.value[0] : undefined;
    return {
      kind: 'appended',
      revision: written.revision,
      position: written.position,
      // The answer to an append does not tell the time; ours stands in when the event cannot be read back.
      recordedAt: recorded?.created.getTime() ?? Date.now(),
    };
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }
}

function prepare(append: Append): Prepared {
  const take = new Map(append.take.map((claim) => [claimStream(claim), claim]));
  const release = new Set(append.release.map(claimStream));
  const taken = [...take.keys()].sort();
  const released = [...release].filter((name) => !take.has(name));
  return {
    append,
    events: encodeEvents(append, { taken, released }),
    take: taken.map((name) => [name, take.get(name)!]),
    release,
    released,
  };
}

/** The same ids at the same place: this append happened before, and its answer got lost. */
function appendedBefore({ events }: Append, there: readonly StoredEvent[]): Verdict | undefined {
  const last = there.at(-1);
  if (!last || there.length !== events.length) return undefined;
  if (there.some(({ id }, at) => id !== events[at]!.id.toLowerCase())) return undefined;
  return { kind: 'appended', revision: last.revision, position: last.position, recordedAt: last.recordedAt };
}
