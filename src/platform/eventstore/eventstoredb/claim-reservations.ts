import type { ClaimKey } from '../port.ts';
import type { ClaimRegister, HeldClaimOwner, ClaimReservation } from './claim-register.ts';
import type { ClaimingEvent } from './claim-stream.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';

export interface ClaimRequest {
  /** The stream of the claim. */
  readonly name: string;
  readonly claim: ClaimKey;
  /** The same append releases it, so its holder may be the appending stream itself. */
  readonly isReleased: boolean;
}

type Tried = ClaimReservation | HeldClaimOwner | 'pending';
type Outcome = readonly ClaimReservation[] | { readonly claim: ClaimKey; readonly holder: string };

/**
 * Reserves all claims of an append, or none. The first try is made for all of them at once, and nobody waits in it. If another
 * append's reservation stands in the way, whatever comes after that claim in the order of their names is given back, and the rest is
 * reserved one after the other. So an append waits only while everything that it holds comes before what it waits for: appends never
 * wait for each other in a circle, though they start at all their claims together.
 */
export class ClaimReservations {
  readonly #claims: ClaimRegister;
  readonly #timeoutMs: OperationTimeouts;
  readonly #later: (work: Promise<unknown>) => void;

  /** `later` is told of work that goes on after an append has failed. */
  constructor(claims: ClaimRegister, timeoutMs: OperationTimeouts, later: (work: Promise<unknown>) => void) {
    this.#claims = claims;
    this.#timeoutMs = timeoutMs;
    this.#later = later;
  }

  /** `wanted` in the order of the names. */
  async reserve(wanted: readonly ClaimRequest[], taking: ClaimingEvent, deadline: Deadline): Promise<Outcome> {
    const mine: ClaimReservation[] = [];
    try {
      const contested = await this.#tryAll(wanted, taking, deadline, mine);
      if (typeof contested !== 'number') return await this.#lost(contested, mine, deadline);
      for (const claim of wanted.slice(contested)) {
        const tried = await this.#claims.reserve(claim.name, taking, deadline);
        if (stands(tried, claim, taking))
          return await this.#lost({ claim: claim.claim, holder: tried.holder }, mine, deadline);
        if ('at' in tried) mine.push(tried);
      }
      return mine;
    } catch (error) {
      this.#later(this.giveBack(mine, new Deadline(this.#timeoutMs)));
      throw error;
    }
  }

  /** What cannot be given back now is given up later: its place in the stream is taken, or will be fenced. */
  async giveBack(reservations: readonly ClaimReservation[], deadline: Deadline): Promise<void> {
    await Promise.allSettled(reservations.map((reservation) => this.#claims.giveBack(reservation, deadline)));
  }

  /**
   * All at once. Returns the claim that is held by another stream; else the index of the first that is pending, `wanted.length` for
   * none. What was reserved before that index is in `mine`, the rest has been given back.
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
      if (stands(one!, wanted[at]!, taking)) return { claim: wanted[at]!.claim, holder: one.holder };
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

/** Held by a stream that keeps it: another one, or the appending one unless it lets go of it in the same append. */
const stands = (tried: Tried, { isReleased }: ClaimRequest, { holder }: ClaimingEvent): tried is HeldClaimOwner =>
  typeof tried === 'object' && 'holder' in tried && !('at' in tried) && !(tried.holder === holder && isReleased);
