/** Choice OP-021, by source: five tries without success in 15 minutes lock it out for 15 minutes. */
export const MAX_ATTEMPTS = 5;
export const WINDOW_MS = 15 * 60_000;
export const LOCK_MS = 15 * 60_000;
/** While a source is locked out so many passwords are still looked at (only to say "locked" to the one who knows it); none lets in. */
const CHECKS_WHILE_LOCKED = 5;
/** Passwords of one account that are looked at within 15 minutes for all sources together that never signed in to it. */
const STRANGERS_TRIES = 50;

/**
 * Where a try comes from. An address stands for its network (an IPv6 client for its /64) as seen from this account. A browser has signed in
 * to the account before and proves it by a cookie. A session is live, and its holder re-authenticates.
 */
export type AttemptSource = `address:${string}` | `browser:${string}` | `session:${string}`;

/** Of tries from before sources were told apart. */
export const LEGACY_SOURCE = 'address:earlier';

/** All addresses from which nobody signed in to this account lately. */
export const UNFAMILIAR_ADDRESSES = 'strangers';
/** Codes of a second factor, presented by strangers: they know the password, and a million codes are soon tried from enough addresses. */
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
