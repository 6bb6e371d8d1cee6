import type { ClaimKey } from '../port.ts';
import type { ClaimRegister, HeldClaimOwner, ClaimReservation } from './claim-register.ts';
import type { ClaimingEvent } from './claim-stream.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';

export interface ClaimRequest {
  /** The stream of the claim. */
  readonly name: string;
  readonly claim: ClaimKey;
  /** The same append releases the claim, so the appending stream itself may hold it. */
  readonly isReleased: boolean;
}

type Tried = ClaimReservation | HeldClaimOwner | 'pending';
type Outcome = readonly ClaimReservation[] | { readonly claim: ClaimKey; readonly holder: string };

/**
 * Reserves all claims of an append, or none. First it tries all of them at once, without waiting. If another append's
 * reservation of a claim is pending, all reservations after that claim (in order of names) are given back. The rest is
 * reserved one after the other. So an append waits only for claims that come after all those it holds, and appends can
 * never deadlock.
 */
export class ClaimReservations {
  readonly #claims: ClaimRegister;
  readonly #timeoutMs: OperationTimeouts;
  readonly #later: (work: Promise<unknown>) => void;

  /** `later` gets the promise of work that continues after an append has failed. */
  constructor(claims: ClaimRegister, timeoutMs: OperationTimeouts, later: (work: Promise<unknown>) => void) {
    this.#claims = claims;
    this.#timeoutMs = timeoutMs;
    this.#later = later;
  }

  /** `wanted` must be sorted by name. */
  async reserve(wanted: readonly ClaimRequest[], taking: ClaimingEvent, deadline: Deadline): Promise<Outcome> {
    const mine: ClaimReservation[] = [];
    try {
      const contested = await this.#tryAll(wanted, taking, deadline, mine);
      if (typeof contested !== 'number') return await this.#lost(contested, mine, deadline);
      for (const claim of wanted.slice(contested)) {
        const tried = await this.#claims.reserve(claim.name, taking, deadline);
        if (isHeld(tried, claim, taking))
          return await this.#lost({ claim: claim.claim, holder: tried.holder }, mine, deadline);
        if ('at' in tried) mine.push(tried);
      }
      return mine;
    } catch (error) {
      this.#later(this.giveBack(mine, new Deadline(this.#timeoutMs)));
      throw error;
    }
  }

  /**
   * If a reservation cannot be given back now, it expires later: its revision in the stream is used, or will be fenced.
   */
  async giveBack(reservations: readonly ClaimReservation[], deadline: Deadline): Promise<void> {
    await Promise.allSettled(reservations.map((reservation) => this.#claims.giveBack(reservation, deadline)));
  }

  /**
   * Tries all at once. Returns the claim that another stream holds; else the index of the first pending claim, or
   * `wanted.length` if none. Reservations before that index are in `mine`, the others have been given back.
   */
  async #tryAll(
    wanted: readonly ClaimRequest[],
    taking: ClaimingEvent,
    deadline: Deadline,
    mine: ClaimReservation[],
  ): Promise<number | { claim: ClaimKey; holder: string }> {
    const settled = await Promise.allSettled(
      wanted.map(({ name }) => this.#claims.tryToReserve(name, taking, deadline)),
    );
    const tried = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
    mine.push(...tried.filter(isReservation));
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    for (const [at, one] of tried.entries()) {
      if (isHeld(one!, wanted[at]!, taking)) return { claim: wanted[at]!.claim, holder: one.holder };
    }
    const pending = tried.indexOf('pending');
    if (pending < 0) return wanted.length;
    const beyond = tried.slice(pending).filter(isReservation);
    mine.splice(mine.length - beyond.length);
    await this.giveBack(beyond, deadline);
    return pending;
  }

  async #lost<Loss>(loss: Loss, mine: readonly ClaimReservation[], deadline: Deadline): Promise<Loss> {
    await this.giveBack(mine, deadline);
    return loss;
  }
}

const isReservation = (tried: Tried | undefined): tried is ClaimReservation =>
  typeof tried === 'object' && 'at' in tried;

/** True if a stream keeps the claim: another stream, or the appending one unless the same append releases it. */
const isHeld = (tried: Tried, { isReleased }: ClaimRequest, { holder }: ClaimingEvent): tried is HeldClaimOwner =>
  typeof tried === 'object' && 'holder' in tried && !('at' in tried) && !(tried.holder === holder && isReleased);
