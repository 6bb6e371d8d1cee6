/** How much may come at once, and how much comes back in a day. */
export interface BucketSize {
  readonly capacity: number;
  readonly perDay: number;
}

/** What was left, and when (epoch milliseconds): a value that can be kept as JSON. */
export interface Bucket {
  readonly left: number;
  readonly at: number;
}

const DAY_MS = 24 * 3_600_000;
/** An ordinary client that was offline for so long reports everything at once when it comes back. */
const OFFLINE_DAYS = 14;

/** A bucket for so much on an ordinary day: it holds fourteen of these days, and one comes back each day. */
export const ordinaryDays = (perDay: number): BucketSize => ({ capacity: OFFLINE_DAYS * perDay, perDay });

/** The bucket as it is now. Clocks of several processes may differ a little: time never runs backwards here. */
export function refilled(bucket: Bucket | undefined, { capacity, perDay }: BucketSize, now: number): Bucket {
  if (!bucket) return { left: capacity, at: now };
  if (now <= bucket.at) return bucket;
  return { left: Math.min(capacity, bucket.left + ((now - bucket.at) * perDay) / DAY_MS), at: now };
}

/** Takes one; undefined where there is none. */
export const spent = (bucket: Bucket): Bucket | undefined =>
  bucket.left >= 1 ? { ...bucket, left: bucket.left - 1 } : undefined;
