import { EventStoreUnavailable } from '../port.ts';
import {
  claimWord,
  confirmed,
  fence,
  NEVER_TAKEN,
  released,
  reserved,
  type ClaimWord,
  type Taking,
} from './claim-stream.ts';
import type { Deadline } from './deadline.ts';
import { releasedBy } from './event-encoding.ts';
import type { StreamReader } from './stream-reader.ts';
import type { StreamWriter } from './stream-writer.ts';

/** A claim that is ours as soon as the event that takes it has been written. */
export interface Reservation {
  readonly claim: string;
  readonly at: bigint;
  readonly taking: Taking;
}

/** Whose a claim is that could not be reserved. */
export interface Held {
  readonly holder: string;
}

/** Who a claim belongs to; `pending` while a reservation's event may still arrive. */
type Standing = 'free' | 'pending' | { readonly holder: string; readonly eventId: string };

const PAGE = 200;
/** Tries after which the pause grows no longer (160 ms): most decisions are a matter of milliseconds. */
const LONGEST_WAIT = 4;

/**
 * Claims on a store that appends to one stream at a time. A claim is reserved in a stream of its own; the event that takes
 * it is what decides, and confirming only says so. So the truth stands in the holder's stream, also after a crash:
 *
 *  - a reservation whose event stands at its place is held, until a later event there releases it;
 *  - a reservation whose place is taken by something else can never come true;
 *  - a reservation whose place is still empty is pending. After a grace time its place is fenced, by an event that no
 *    reader sees: a writer that was merely slow then misses its revision. No clock is trusted with more than patience.
 *
 * A claim passes on only from a word that is free, released or can never come true, by an append at an explicit revision,
 * so of any number of takers one goes through.
 *
 * Only the reservation has to be there before the event is written. Confirming, and noting down a release, may come at any time
 * later or never: a word `reserved` or `confirmed` is never believed without a look at the holder's stream.
 */
export class ClaimRegister {
  readonly #writer: StreamWriter;
  readonly #reader: StreamReader;
  readonly #graceMs: number;

  constructor(writer: StreamWriter, reader: StreamReader, graceMs: number) {
    this.#writer = writer;
    this.#reader = reader;
    this.#graceMs = graceMs;
  }

  /** The reservation, or whoever holds the claim. Does not wait: a reservation of another may still be `pending`. */
  tryToReserve(claim: string, taking: Taking, deadline: Deadline): Promise<Reservation | Held | 'pending'> {
    // Most claims are new: the first try goes without reading.
    return this.#reserveFrom(NEVER_TAKEN, claim, taking, deadline);
  }

  /** The same, after the reservation of another has been decided. */
  async reserve(claim: string, taking: Taking, deadline: Deadline): Promise<Reservation | Held> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#reserveFrom(await this.#read(claim, deadline), claim, taking, deadline);
      if (outcome !== 'pending') return outcome;
      await deadline.pause(Math.min(tries, LONGEST_WAIT), new EventStoreUnavailable('a claim is still being decided'));
    }
  }

  async #reserveFrom(known: ClaimWord, claim: string, taking: Taking, deadline: Deadline): Promise<Reservation | Held | 'pending'> {
    for (let word = known; ; word = await this.#read(claim, deadline)) {
      const standing = await this.#decide(claim, word, deadline, taking);
      if (standing === 'pending') return 'pending';
      if (standing !== 'free') return { holder: standing.holder };
      const outcome = await this.#writer.write(claim, word.at, [reserved(taking)], deadline);
      if (outcome.kind === 'written') return { claim, at: outcome.revision, taking };
    }
  }

  /** Only says what is true already; whoever comes by may have said it before. */
  async confirm({ claim, at, taking }: Reservation, deadline: Deadline): Promise<void> {
    await this.#writer.write(claim, at, [confirmed(taking)], deadline);
  }

  /** For the reserving call alone, and only when its append was not tried or has missed its revision. */
  async giveBack({ claim, at, taking }: Reservation, deadline: Deadline): Promise<void> {
    await this.#writer.write(claim, at, [released(taking)], deadline);
  }

  async holder(claim: string, deadline: Deadline): Promise<string | undefined> {
    const standing = await this.#standing(claim, await this.#read(claim, deadline), deadline);
    return typeof standing === 'string' ? undefined : standing.holder;
  }

  /**
   * Makes the claim's last word say what is true. False when that is not decided yet. Where another word came in between, a
   * belated confirmation for example, that one is looked at as well.
   */
  async settle(claim: string, deadline: Deadline): Promise<boolean> {
    for (;;) {
      const word = await this.#read(claim, deadline);
      if (word.word === 'free') return true;
      const standing = await this.#decide(claim, word, deadline);
      if (standing === 'pending') return false;
      if (standing !== 'free' && word.word === 'confirmed') return true;
      const truth = standing === 'free' ? released(word.taking) : confirmed(word.taking);
      const outcome = await this.#writer.write(claim, word.at, [truth], deadline);
      if (outcome.kind === 'written') return true;
    }
  }

  async #read(claim: string, deadline: Deadline): Promise<ClaimWord> {
    const [last] = await this.#reader.backwards(claim, 'end', 1, deadline);
    return claimWord(last);
  }

  async #standing(claim: string, word: ClaimWord, deadline: Deadline): Promise<Standing> {
    if (word.word === 'free') return 'free';
    const { taking } = word;
    if (word.word === 'reserved') {
      const [there] = await this.#reader.forwards(taking.holder, taking.revision, 1, deadline);
      if (!there) return 'pending';
      if (there.id !== taking.eventId) return 'free';
    }
    return (await this.#releasedSince(claim, taking, deadline)) ? 'free' : taking;
  }

  async #releasedSince(claim: string, { holder, revision }: Taking, deadline: Deadline): Promise<boolean> {
    for (let from = revision + 1n; ; ) {
      const page = await this.#reader.forwards(holder, from, PAGE, deadline);
      if (page.some((event) => releasedBy(event).includes(claim))) return true;
      if (page.length < PAGE) return false;
      from = page.at(-1)!.revision + 1n;
    }
  }

  /**
   * The standing, after an abandoned reservation was brought to an end: one that has waited too long, or that was made for
   * the very event that now comes once more, because the call before did not learn its outcome.
   */
  async #decide(claim: string, word: ClaimWord, deadline: Deadline, again?: Taking): Promise<Standing> {
    const standing = await this.#standing(claim, word, deadline);
    if (standing !== 'pending' || word.word === 'free') return standing;
    const { taking, recordedAt } = word;
    const own = again?.eventId === taking.eventId && again.holder === taking.holder;
    if (!own && Date.now() - recordedAt < this.#graceMs) return 'pending';
    const outcome = await this.#writer.write(taking.holder, taking.revision - 1n, [fence(taking)], deadline);
    // A stream that has not even come to that place was never what the reserving call took it for.
    if (outcome.kind === 'written' || outcome.actual < taking.revision) return 'free';
    return this.#standing(claim, word, deadline);
  }
}
