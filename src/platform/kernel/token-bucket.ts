/** How many tokens a bucket holds, and how many it regains in a day. */
export interface BucketSize {
  readonly capacity: number;
  readonly perDay: number;
}

/** Tokens left, and when that was computed (epoch milliseconds). Can be stored as JSON. */
export interface Bucket {
  readonly left: number;
  readonly at: number;
}

const DAY_MS = 24 * 3_600_000;
/** A normal client that was offline for this long reports everything at once when it comes back. */
const OFFLINE_DAYS = 14;

/** A bucket for a normal daily amount: it holds 14 days' worth, and regains one day's worth a day. */
export const ordinaryDays = (perDay: number): BucketSize => ({ capacity: OFFLINE_DAYS * perDay, perDay });

/** Returns the bucket as of now. Clocks of processes may differ a little, so an earlier `now` changes nothing. */
export function refilled(bucket: Bucket | undefined, { capacity, perDay }: BucketSize, now: number): Bucket {
  if (!bucket) return { left: capacity, at: now };
  if (now <= bucket.at) return bucket;
  return { left: Math.min(capacity, bucket.left + ((now - bucket.at) * perDay) / DAY_MS), at: now };
}

/** Takes one token; undefined if there is none. */
export const spent = (bucket: Bucket): Bucket | undefined =>
  bucket.left >= 1 ? { ...bucket, left: bucket.left - 1 } : undefined;
