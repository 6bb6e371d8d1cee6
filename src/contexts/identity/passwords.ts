import argon2 from 'argon2';
import { randomBytes, randomInt } from 'node:crypto';
import { FairLimiter, type ResourceShares } from '../../platform/fairness/fair-limiter.ts';
import { HashingLimiter, type HashingReservation, type HashingSource } from './hashing-limiter.ts';

/** OWASP Password Storage Cheat Sheet: Argon2id with m = 19 MiB, t = 2, p = 1. */
export const ARGON2 = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export type Argon2Cost = Readonly<{
  type: typeof argon2.argon2id;
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}>;

/**
 * Sign-ins use at most this many of the four threads of libuv's pool. Further ones are queued, so that other work
 * continues.
 */
const LIMITS = { atOnce: 3, waiting: 256, waitingPerTenant: 64 } as const;

/**
 * Fewer than the attempts of a source that lock it (decision 0026): requests with the right password, each of which counts until
 * it is known to be right, must not lock each other out.
 */
const ATTEMPTS: ResourceShares = {
  what: 'password checks of one account',
  atOnce: 1_024,
  perKey: 2,
  waiting: 1_024,
  waitingPerKey: 64,
  waitMs: 10_000,
  isShort: true,
};

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** Same form and parameters as any other hash, but of no known password. */
const dummyHash = ({ memoryCost, timeCost, parallelism }: Argon2Cost) =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${unpadded(randomBytes(16))}$${unpadded(randomBytes(32))}`;

/** Hashes and verifies passwords: slow by design, with limited concurrency. */
export class Passwords {
  readonly #cost: Argon2Cost;
  readonly #dummyHash: string;
  readonly #limiter = new HashingLimiter(LIMITS);
  readonly #attempts = new FairLimiter(ATTEMPTS);

  constructor(cost: Argon2Cost = ARGON2) {
    this.#cost = cost;
    this.#dummyHash = dummyHash(cost);
  }

  /** Reserves a place for a check, before anything is recorded about it. Throws `TooManyWaiting`. */
  reserve(source?: HashingSource): HashingReservation {
    return this.#limiter.reserve(source);
  }

  /** Runs an attempt on an account when few others of its source are under way. Rejects with `TooBusy`. */
  inTurn<T>(account: string, source: string, attempt: () => Promise<T>): Promise<T> {
    return this.#attempts.run(`${account} ${source}`, attempt);
  }

  hash(password: string): Promise<string> {
    return this.#limiter.run(() => argon2.hash(password, this.#cost));
  }

  verify(hash: string, password: string, reservation?: HashingReservation): Promise<boolean> {
    return this.#limiter.check(() => argon2.verify(hash, password), reservation);
  }

  /** The raw digest of a generated code under a given salt: one computation to compare with many digests. */
  digest(code: string, salt: Buffer, reservation?: HashingReservation): Promise<Buffer> {
    return this.#limiter.run(() => argon2.hash(code, { ...this.#cost, salt, raw: true }), reservation);
  }

  /** Costs the same as verifying a known account. Always false. */
  async verifyDummyPassword(password: string, reservation?: HashingReservation): Promise<boolean> {
    await this.verify(this.#dummyHash, password, reservation);
    return false;
  }
}

const CLASSES = ['ABCDEFGHJKLMNPQRSTUVWXYZ', 'abcdefghijkmnopqrstuvwxyz', '23456789', '!#%*+-=?@'] as const;

/** 20 characters with all four classes, about 115 bits, without look-alikes: shown once and typed by a person. */
export function randomPassword(pickInteger: (below: number) => number = randomInt): string {
  const pick = (alphabet: string) => alphabet[pickInteger(alphabet.length)]!;
  const characters = [...CLASSES.map(pick), ...Array.from({ length: 16 }, () => pick(CLASSES.join('')))];
  for (let last = characters.length - 1; last > 0; last -= 1) {
    const other = pickInteger(last + 1);
    [characters[last], characters[other]] = [characters[other]!, characters[last]!];
  }
  return characters.join('');
}
