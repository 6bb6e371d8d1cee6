import { nextDay, type ZonedDays } from '../../../platform/time-zones/zoned-days.ts';

export const timeframes = ['24h', '7d', '30d', '90d'] as const;
export type Timeframe = (typeof timeframes)[number];

/** The buckets of a chart, oldest first: calendar days, or hours for `24h`. The last bucket is still filling. */
export interface ChartWindow {
  readonly interval: 'hour' | 'day';
  /** `YYYY-MM-DD`, or the start of the hour as RFC 3339. */
  readonly buckets: readonly string[];
  /** The start of each bucket, and the end of the last one: RFC 3339, exclusive. */
  readonly bounds: readonly string[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS = { '24h': 24, '7d': 7, '30d': 30, '90d': 90 } as const;
const HOURS = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 } as const;

const isoOf = (epochMs: number): string => new Date(epochMs).toISOString();

export function chartWindowOf(timeframe: Timeframe, now: number, days: ZonedDays): ChartWindow {
  if (timeframe !== '24h') return { interval: 'day', ...dayBuckets(lastDays(LENGTHS[timeframe], now, days), days) };
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  const starts = Array.from({ length: LENGTHS['24h'] }, (_, n) => isoOf(last - (LENGTHS['24h'] - 1 - n) * HOUR_MS));
  return { interval: 'hour', buckets: starts, bounds: [...starts, isoOf(last + HOUR_MS)] };
}

/** The given number of calendar days up to today, oldest first. */
function lastDays(count: number, now: number, days: ZonedDays): string[] {
  const today = days.dayOf(now);
  const first = isoOf(Date.parse(today) - (count - 1) * DAY_MS).slice(0, 10);
  return Array.from({ length: count }, (_, n) => isoOf(Date.parse(first) + n * DAY_MS).slice(0, 10));
}

/** One bucket for each of these consecutive days. */
export const dayBuckets = (of: readonly string[], days: ZonedDays): Pick<ChartWindow, 'buckets' | 'bounds'> => ({
  buckets: of,
  bounds: [...of, nextDay(of.at(-1)!)].map((day) => isoOf(days.startOf(day))),
});

/** The start of a window that ends now, to the minute: at least as long as its name says, by less than a minute. */
export const windowStart = (timeframe: Timeframe, now: number): string =>
  isoOf(Math.floor((now - HOURS[timeframe] * HOUR_MS) / MINUTE_MS) * MINUTE_MS);
