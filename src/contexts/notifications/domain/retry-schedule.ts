import { createHash } from 'node:crypto';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Choice OP-184: the waits after the first five failed attempts. */
const FIRST_WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR] as const;
/** Then an attempt about every eight hours. */
const LATER_WAIT_MS = 8 * HOUR;
/** The last attempt is at this age or later, so a receiver that was down for three days misses nothing. */
export const LONGEST_RETRY_MS = 72 * HOUR;
/** A wait is longer by up to this share, so that messages that failed together are not repeated together. */
const JITTER = 0.1;
/** The longest wait that a receiver can ask for (`Retry-After`). */
const MAX_ASKED_MS = 8 * HOUR;

/** A number in [0, 1) that is the same at every call: a decision must not depend on when it is repeated. */
function spread(deliveryId: string, attempt: number): number {
  return createHash('sha256').update(`${deliveryId}|${attempt}`).digest().readUInt32BE(0) / 2 ** 32;
}

export interface FailedAttempt {
  readonly deliveryId: string;
  /** Attempts since the delivery was planned or an administrator asked for another round: counts from 1. */
  readonly attempt: number;
  /** Epoch milliseconds: when the first attempt of this round was due. */
  readonly since: number;
  readonly now: number;
  /** The receiver asked for this wait. */
  readonly retryAfterMs?: number | undefined;
}

/** When to try again, in epoch milliseconds; undefined: the delivery is exhausted. */
export function nextAttemptAt({
  deliveryId,
  attempt,
  since,
  now,
  retryAfterMs = 0,
}: FailedAttempt): number | undefined {
  const last = since + LONGEST_RETRY_MS;
  if (now >= last) return undefined;
  const jitter = 1 + JITTER * spread(deliveryId, attempt);
  const wait = (FIRST_WAITS_MS[attempt - 1] ?? LATER_WAIT_MS) * jitter;
  const next = now + Math.round(Math.max(wait, Math.min(retryAfterMs, MAX_ASKED_MS)));
  // Nothing would follow an attempt shortly before the end, so that attempt becomes the last one.
  return next + LATER_WAIT_MS / 2 > last ? Math.max(next, last + Math.round((jitter - 1) * HOUR)) : next;
}
