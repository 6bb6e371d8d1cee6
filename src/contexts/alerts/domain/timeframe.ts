export const timeframes = ['24h', '7d', '30d', '90d'] as const;
export type Timeframe = (typeof timeframes)[number];

/** The buckets of a chart, oldest first: calendar days in UTC, or hours for `24h`. The last bucket is still filling. */
export interface ChartWindow {
  readonly interval: 'hour' | 'day';
  /** `YYYY-MM-DD`, or the start of the hour as RFC 3339. */
  readonly buckets: readonly string[];
  /** Start of the first bucket, RFC 3339. */
  readonly from: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS = { '24h': 24, '7d': 7, '30d': 30, '90d': 90 } as const;

export function chartWindowOf(timeframe: Timeframe, now: number): ChartWindow {
  const interval = timeframe === '24h' ? 'hour' : 'day';
  const step = interval === 'hour' ? HOUR_MS : DAY_MS;
  const last = Math.floor(now / step) * step;
  const starts = Array.from({ length: LENGTHS[timeframe] }, (_, n) =>
    new Date(last - (LENGTHS[timeframe] - 1 - n) * step).toISOString(),
  );
  return {
    interval,
    buckets: interval === 'hour' ? starts : starts.map((start) => start.slice(0, 10)),
    from: starts[0]!,
  };
}
