import { FairQueue } from '../../platform/fairness/fair-queue.ts';
import { Suspicions } from './suspicions.ts';

/** The queue is full: a new computation would start too late. */
export class TooManyWaiting extends Error {
  constructor() {
    super('too many password checks are waiting');
    this.name = 'TooManyWaiting';
  }
}

/**
 * While others are queued, results are released in batches of this size.
 * Gain: `npm run bench -- without hashing-company login-32`: 1.13 (95 %: 1.10 to 1.16).
 */
const BATCH_SIZE = 4;
/** The longest time that a result waits for its batch. */
const MAX_HOLD_MS = 40;

export interface HashingLimits {
  readonly atOnce: number;
  readonly waiting: number;
  /** The part of `waiting` that one tenant may use; the rest is for others. */
  readonly waitingPerTenant: number;
}

/** For whom a computation runs. The queue is fair between tenants, and within a tenant between addresses. */
export interface HashingSource {
  readonly tenantId: string;
  readonly address: string;
}

/** The service itself and signed-in administrators: exempt from the limit per tenant. */
const INSIDE: HashingSource = { tenantId: '', address: '' };

/** A place in the queue for a computation that has to be recorded first. Use it or give it back, exactly once. */
export interface HashingReservation {
  readonly source: HashingSource;
  giveBack(): void;
}

/**
 * Limits how many slow computations run at once.
 *
 * While computations are queued, finished ones are held briefly and released in batches. Their next steps (appends,
 * look-ups, a response) then share round trips and flushes. They also find their data in the processor's caches, which
 * each computation (megabytes of memory) would otherwise evict.
 *
 * Tenants are served in turn, and one at which guesses are made in number has a single slot, so that a flood of sign-ins at
 * one tenant delays only that tenant (0169).
 */
export class HashingLimiter {
  readonly #limits: HashingLimits;
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  readonly #suspicions = new Suspicions();
  readonly #waiting = new FairQueue<() => void>();
  readonly #reserved = new Set<HashingReservation>();
  readonly #finished: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: HashingLimits) {
    this.#limits = limits;
  }

  /** Reserves a place. Throws `TooManyWaiting` if there is none. */
  reserve(source: HashingSource = INSIDE): HashingReservation {
    if (this.#isFullFor(source)) throw new TooManyWaiting();
    const reservation: HashingReservation = { source, giveBack: () => void this.#reserved.delete(reservation) };
    this.#reserved.add(reservation);
    return reservation;
  }

  /**
   * Runs the work when its turn comes. Throws `TooManyWaiting` at once if the queue is full and no place was reserved.
   */
  async run<T>(work: () => Promise<T>, reservation?: HashingReservation): Promise<T> {
    const isExpected = reservation !== undefined && this.#reserved.delete(reservation);
    const source = reservation?.source ?? INSIDE;
    await this.#turn(isExpected, source);
    try {
      return await work();
    } finally {
      this.#end(source);
      await this.#awaitBatch(source);
    }
  }

  /** As `run`, for the check of a secret. Its result tells whether somebody guesses. */
  async check(work: () => Promise<boolean>, reservation?: HashingReservation): Promise<boolean> {
    return this.run(async () => {
      const isRight = await work();
      if (reservation) this.#suspicions.note(reservation.source.tenantId, isRight);
      return isRight;
    }, reservation);
  }

  #isFullFor({ tenantId }: HashingSource): boolean {
    if (this.#waiting.size + this.#reserved.size >= this.#limits.waiting) return true;
    if (tenantId === INSIDE.tenantId) return false;
    let held = this.#waiting.sizeOf(tenantId);
    for (const { source } of this.#reserved) if (source.tenantId === tenantId) held += 1;
    return held >= this.#limits.waitingPerTenant;
  }

  /** When a computation ends, its slot passes to the oldest one of the next tenant. */
  async #turn(isExpected: boolean, source: HashingSource): Promise<void> {
    const { tenantId, address } = source;
    if (this.#running < this.#limits.atOnce && this.#mayBegin(tenantId)) return this.#begin(tenantId);
    if (!isExpected && this.#isFullFor(source)) throw new TooManyWaiting();
    await new Promise<void>((resolve) =>
      this.#waiting.push([tenantId, address], () => {
        this.#begin(tenantId);
        resolve();
      }),
    );
  }

  #mayBegin(tenantId: string): boolean {
    return !this.#suspicions.isSuspect(tenantId) || !this.#runningOf.has(tenantId);
  }

  #begin(tenantId: string): void {
    this.#running += 1;
    this.#runningOf.set(tenantId, (this.#runningOf.get(tenantId) ?? 0) + 1);
  }

  #end({ tenantId }: HashingSource): void {
    this.#running -= 1;
    const left = this.#runningOf.get(tenantId)! - 1;
    if (left > 0) this.#runningOf.set(tenantId, left);
    else this.#runningOf.delete(tenantId);
    while (this.#running < this.#limits.atOnce) {
      const next = this.#waiting.shift((key) => this.#mayBegin(key));
      if (!next) return;
      next();
    }
  }

  /** Whoever has no other computation of their tenant behind them waits for no batch. */
  async #awaitBatch({ tenantId }: HashingSource): Promise<void> {
    await new Promise<void>((release) => {
      this.#finished.push(release);
      if (this.#waiting.sizeOf(tenantId) === 0 || this.#finished.length >= BATCH_SIZE) this.#releaseBatch();
      else this.#timer ??= setTimeout(() => this.#releaseBatch(), MAX_HOLD_MS);
    });
  }

  #releaseBatch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const release of this.#finished.splice(0)) release();
  }
}
