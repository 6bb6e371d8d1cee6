import { EventStoreUnavailable } from '../port.ts';
import {
  claimState,
  fence,
  NEVER_CLAIMED,
  released,
  reserved,
  type ClaimState,
  type ClaimingEvent,
} from './claim-stream.ts';
import type { Deadline } from './deadline.ts';
import { releasedBy } from './event-encoding.ts';
import type { StreamReader } from './stream-reader.ts';
import type { StreamWriter } from './stream-writer.ts';

/** A claim that is ours as soon as the event that takes it has been written. */
export interface ClaimReservation {
  readonly claim: string;
  readonly at: bigint;
  readonly taking: ClaimingEvent;
}

/** Whose a claim is that could not be reserved. */
export interface HeldClaimOwner {
  readonly holder: string;
}

/** Who a claim belongs to; `pending` while a reservation's event may still arrive. */
type Standing = 'free' | 'pending' | { readonly holder: string; readonly eventId: string };

const PAGE = 200;
/** Tries after which the pause grows no longer (160 ms): most decisions are a matter of milliseconds. */
const LONGEST_WAIT = 4;

/**
 * Claims on a store that appends to one stream at a time. A claim is reserved in a stream of its own; the event that takes
 * it is what decides. So the truth stands in the holder's stream, also after a crash:
 *
 *  - a reservation whose event stands at its place is held, until a later event there releases it;
 *  - a reservation whose place is taken by something else can never come true;
 *  - a reservation whose place is still empty is pending. After a grace time its place is fenced, by an event that no
 *    reader sees: a writer that was merely slow then misses its revision. No clock is trusted with more than patience.
 *
 * A claim passes on only from a word that is free, released or can never come true, by an append at an explicit revision,
 * so of any number of takers one goes through.
 *
 * Only the reservation has to be there before the event is written. Noting down a release may come at any time later or never,
 * and nobody confirms a reservation whose event was written: the look at the holder's stream that finds a release finds the
 * event too, so a confirmation would save nothing. (Earlier versions wrote it; to them as to this one it is no more than a word.)
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
  tryToReserve(
    claim: string,
    taking: ClaimingEvent,
    deadline: Deadline,
  ): Promise<ClaimReservation | HeldClaimOwner | 'pending'> {
    // Most claims are new: the first try goes without reading.
    return this.#reserveFrom(NEVER_CLAIMED, claim, taking, deadline);
  }

  /** The same, after the reservation of another has been decided. */
  async reserve(claim: string, taking: ClaimingEvent, deadline: Deadline): Promise<ClaimReservation | HeldClaimOwner> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#reserveFrom(await this.#read(claim, deadline), claim, taking, deadline);
      if (outcome !== 'pending') return outcome;
      await deadline.pause(Math.min(tries, LONGEST_WAIT), new EventStoreUnavailable('a claim is still being decided'));
    }
  }

  async #reserveFrom(
    known: ClaimState,
    claim: string,
    taking: ClaimingEvent,
    deadline: Deadline,
  ): Promise<ClaimReservation | HeldClaimOwner | 'pending'> {
    for (let word = known; ; word = await this.#read(claim, deadline)) {
      const standing = await this.#decide(claim, word, deadline, taking);
      if (standing === 'pending') return 'pending';
      if (standing !== 'free') return { holder: standing.holder };
      const outcome = await this.#writer.write(claim, word.at, [reserved(taking)], deadline);
      if (outcome.kind === 'written') return { claim, at: outcome.revision, taking };
    }
  }

  /** For the reserving call alone, and only when its append was not tried or has missed its revision. */
  async giveBack({ claim, at, taking }: ClaimReservation, deadline: Deadline): Promise<void> {
    await this.#writer.write(claim, at, [released(taking)], deadline);
  }

  async holder(claim: string, deadline: Deadline): Promise<string | undefined> {
    const standing = await this.#standing(claim, await this.#read(claim, deadline), deadline);
    return typeof standing === 'string' ? undefined : standing.holder;
  }

  /**
   * Notes down that a claim is free, where it is. False when that is not decided yet. Where another word came in between, the
   * confirmation by a process of an earlier version for example, that one is looked at as well.
   */
  async settle(claim: string, deadline: Deadline): Promise<boolean> {
    for (;;) {
      const word = await this.#read(claim, deadline);
      if (word.word === 'free') return true;
      const standing = await this.#decide(claim, word, deadline);
      if (standing === 'pending') return false;
      if (standing !== 'free') return true;
      const outcome = await this.#writer.write(claim, word.at, [released(word.taking)], deadline);
      if (outcome.kind === 'written') return true;
    }
  }

  async #read(claim: string, deadline: Deadline): Promise<ClaimState> {
    const [last] = await this.#reader.backwards(claim, 'end', 1, deadline);
    return claimState(last);
  }

  /** One read tells it all, unless the holder's stream is long: the event that takes the claim, and those that may release it. */
  async #standing(claim: string, word: ClaimState, deadline: Deadline): Promise<Standing> {
    if (word.word === 'free') return 'free';
    const { holder, eventId, revision } = word.taking;
    for (let from = revision; ;) {
      const page = await this.#reader.forwards(holder, from, PAGE, deadline);
      if (from === revision && word.word === 'reserved') {
        const [there] = page;
        if (!there) return 'pending';
        if (there.id !== eventId) return 'free';
      }
      if (page.some((event) => releasedBy(event).includes(claim))) return 'free';
      if (page.length < PAGE) return word.taking;
      from = page.at(-1)!.revision + 1n;
    }
  }

  /**
   * The standing, after an abandoned reservation was brought to an end: one that has waited too long, or that was made for
   * the very event that now comes once more, because the call before did not learn its outcome.
   */
  async #decide(claim: string, word: ClaimState, deadline: Deadline, again?: ClaimingEvent): Promise<Standing> {
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
