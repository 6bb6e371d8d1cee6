import { FairQueue } from '../../platform/fairness/fair-queue.ts';

/** So much is waiting already that a turn would come too late. */
export class TooManyWaiting extends Error {
  constructor() {
    super('too many password checks are waiting');
    this.name = 'TooManyWaiting';
  }
}

/** While others wait for their turn, outcomes are handed out so many at a time. */
const TOGETHER = 4;
/** An outcome waits no longer than this for others. */
const LATEST_MS = 40;

export interface HashingLimits {
  readonly atOnce: number;
  readonly waiting: number;
  /** Of `waiting`, for one tenant: the rest is for others. */
  readonly waitingPerTenant: number;
}

/** For whom a computation is: tenants have turns, and within one its addresses have. */
export interface HashingSource {
  readonly tenantId: string;
  readonly address: string;
}

/** The service itself, and administrators who are signed in: not bounded as one tenant is. */
const INSIDE: HashingSource = { tenantId: '', address: '' };

/** A place in the queue, held for a computation that something has to be written down before. Used or given back, once. */
export interface HashingReservation {
  readonly source: HashingSource;
  giveBack(): void;
}

/**
 * Bounds how many slow computations are under way. While more of them are asked for than there are turns, who is done is
 * held back for a moment, to leave with others: what each does next (appends, look-ups, an answer) then shares round trips and
 * flushes, and finds in the processor's caches what the computations, megabytes each, would drive out between two of them.
 * Tenants are served by turns, so that a flood of sign-ins at one of them delays its own alone.
 */
export class HashingLimiter {
  readonly #limits: HashingLimits;
  #running = 0;
  readonly #waiting = new FairQueue<() => void>();
  readonly #reserved = new Set<HashingReservation>();
  readonly #leaving: (() => void)[] = [];
  #latest: NodeJS.Timeout | undefined;

  constructor(limits: HashingLimits) {
    this.#limits = limits;
  }

  /** Holds a place. Throws `TooManyWaiting` where there is none. */
  reserve(source: HashingSource = INSIDE): HashingReservation {
    if (this.#isFullFor(source)) throw new TooManyWaiting();
    const reservation: HashingReservation = { source, giveBack: () => void this.#reserved.delete(reservation) };
    this.#reserved.add(reservation);
    return reservation;
  }

  /** Does the work when its turn has come. Throws `TooManyWaiting` instead, at once, where too much is waiting and no place was held. */
  async run<T>(work: () => Promise<T>, reservation?: HashingReservation): Promise<T> {
    const isExpected = reservation !== undefined && this.#reserved.delete(reservation);
    await this.#turn(isExpected, reservation?.source ?? INSIDE);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
      await this.#company();
    }
  }

  #isFullFor({ tenantId }: HashingSource): boolean {
    if (this.#waiting.size + this.#reserved.size >= this.#limits.waiting) return true;
    if (tenantId === INSIDE.tenantId) return false;
    let held = this.#waiting.sizeOf(tenantId);
    for (const { source } of this.#reserved) if (source.tenantId === tenantId) held += 1;
    return held >= this.#limits.waitingPerTenant;
  }

  /** A turn that ends passes to the next tenant's computation that has waited longest. */
  async #turn(isExpected: boolean, source: HashingSource): Promise<void> {
    if (this.#running < this.#limits.atOnce) {
      this.#running += 1;
      return;
    }
    if (!isExpected && this.#isFullFor(source)) throw new TooManyWaiting();
    await new Promise<void>((resolve) => this.#waiting.push([source.tenantId, source.address], resolve));
  }

  async #company(): Promise<void> {
    await new Promise<void>((leave) => {
      this.#leaving.push(leave);
      if (this.#waiting.size === 0 || this.#leaving.length >= TOGETHER) this.#leave();
      else this.#latest ??= setTimeout(() => this.#leave(), LATEST_MS);
    });
  }

  #leave(): void {
    clearTimeout(this.#latest);
    this.#latest = undefined;
    for (const leave of this.#leaving.splice(0)) leave();
  }
}
