/** OP-021, per source: five failed attempts within 15 minutes lock it for 15 minutes. */
export const MAX_ATTEMPTS = 5;
export const WINDOW_MS = 15 * 60_000;
export const LOCK_MS = 15 * 60_000;
/**
 * While a source is locked, this many passwords are still checked, only to tell the owner of the right password about
 * the lock. None of them signs in.
 */
const CHECKS_WHILE_LOCKED = 5;
/** Passwords of one account that are checked within 15 minutes, for all sources together that never signed in to it. */
const STRANGERS_TRIES = 50;

/**
 * The source of an attempt.
 * - `address`: the client's network (for IPv6 its /64), specific to this account.
 * - `browser`: a browser that has signed in to the account before and proves it by a cookie.
 * - `session`: a live session whose holder re-authenticates.
 */
export type AttemptSource = `address:${string}` | `browser:${string}` | `session:${string}`;

/** The source of attempts from before sources were distinguished. */
export const LEGACY_SOURCE = 'address:earlier';

/** All addresses from which there was no recent sign-in to this account. */
export const UNFAMILIAR_ADDRESSES = 'strangers';
/**
 * Codes of a second factor from unfamiliar addresses. Such a client knows the password, and enough addresses could soon
 * try a million codes.
 */
export const UNFAMILIAR_CODES = 'codes';

export interface AttemptLimit {
  readonly tries: number;
  readonly checksWhileLocked: number;
}

const OF_A_SOURCE: AttemptLimit = { tries: MAX_ATTEMPTS, checksWhileLocked: CHECKS_WHILE_LOCKED };

export function attemptLimitOf(counter: string): AttemptLimit {
  if (counter === UNFAMILIAR_ADDRESSES) return { tries: STRANGERS_TRIES, checksWhileLocked: 0 };
  return counter === UNFAMILIAR_CODES ? { tries: MAX_ATTEMPTS, checksWhileLocked: 0 } : OF_A_SOURCE;
}
