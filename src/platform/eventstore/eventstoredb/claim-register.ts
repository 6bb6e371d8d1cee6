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

/** A reservation. The claim is held as soon as the claiming event has been written. */
export interface ClaimReservation {
  readonly claim: string;
  readonly at: bigint;
  readonly taking: ClaimingEvent;
}

/** The stream that holds a claim which could not be reserved. */
export interface HeldClaimOwner {
  readonly holder: string;
}

/** The owner of a claim; `pending` while a reservation's event may still arrive. */
type Standing = 'free' | 'pending' | { readonly holder: string; readonly eventId: string };

const PAGE = 200;
/** After this many tries the pause stops growing (160 ms): most decisions take milliseconds. */
const LONGEST_WAIT = 4;

/**
 * Claims on a store that appends to one stream at a time. A claim is reserved in a stream of its own, but the claiming
 * event decides. So the truth is in the holder's stream, even after a crash:
 *
 *  - A reservation whose event is at its revision is held, until a later event in that stream releases it.
 *  - A reservation whose revision has another event can never succeed.
 *  - A reservation whose revision is still empty is pending. After a grace time a fence is written there, an event that
 *    no reader sees: a slow writer then fails with a wrong revision. Clocks are trusted only for this grace time.
 *
 * A claim can only be reserved again if its last word is free, released or can never succeed, by an append at an
 * explicit revision. So exactly one of several claimers succeeds.
 *
 * Only the reservation must exist before the event is written. The note of a release may come later or never.
 * Reservations are not confirmed: a look-up must search the holder's stream for a release anyway, and finds the event
 * too. (Earlier versions wrote confirmations; for all versions they are mere notes.)
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

  /**
   * Returns the reservation, or the owner of the claim. Does not wait: returns `pending` if another append's
   * reservation is undecided.
   */
  tryToReserve(
    claim: string,
    taking: ClaimingEvent,
    deadline: Deadline,
  ): Promise<ClaimReservation | HeldClaimOwner | 'pending'> {
    // Most claims are new, so the first try does not read the stream.
    return this.#reserveFrom(NEVER_CLAIMED, claim, taking, deadline);
  }

  /** The same, but waits until a pending reservation of another append is decided. */
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

  /** Only for the reserving call, and only if its append was not tried or failed with a wrong revision. */
  async giveBack({ claim, at, taking }: ClaimReservation, deadline: Deadline): Promise<void> {
    await this.#writer.write(claim, at, [released(taking)], deadline);
  }

  async holder(claim: string, deadline: Deadline): Promise<string | undefined> {
    const standing = await this.#standing(claim, await this.#read(claim, deadline), deadline);
    return typeof standing === 'string' ? undefined : standing.holder;
  }

  /**
   * Writes the note that a claim is free, if it is. Returns false if that is not decided yet. If the claim's stream
   * grew meanwhile, for example by a confirmation from an earlier version, it looks again.
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

  /** Usually takes one read of the holder's stream, for the claiming event and those that may release the claim. */
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
   * Returns the standing, and decides an abandoned reservation first: one older than the grace time, or one for the
   * very event that is now retried because its outcome was unknown.
   */
  async #decide(claim: string, word: ClaimState, deadline: Deadline, again?: ClaimingEvent): Promise<Standing> {
    const standing = await this.#standing(claim, word, deadline);
    if (standing !== 'pending' || word.word === 'free') return standing;
    const { taking, recordedAt } = word;
    const own = again?.eventId === taking.eventId && again.holder === taking.holder;
    if (!own && Date.now() - recordedAt < this.#graceMs) return 'pending';
    const outcome = await this.#writer.write(taking.holder, taking.revision - 1n, [fence(taking)], deadline);
    // The stream is shorter than the reserving call assumed, so its append can only fail.
    if (outcome.kind === 'written' || outcome.actual < taking.revision) return 'free';
    return this.#standing(claim, word, deadline);
  }
}
