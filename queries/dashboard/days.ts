import { dayBuckets } from '../../src/contexts/alerts/domain/timeframe.ts';
import type { ZonedDays } from '../../src/platform/time-zones/zoned-days.ts';

/** A range of calendar days, both ends inclusive, `YYYY-MM-DD`. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** A range of days in a time zone. */
export interface Days extends DayRange {
  readonly zone: ZonedDays;
}

const DAY_MS = 86_400_000;

/** All days of the range in order, so that series have no gaps. */
export function eachDay({ from, to }: DayRange): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

/** The range in moments: `from` inclusive, `until` exclusive, RFC 3339. */
export const momentsOf = ({ from, to, zone }: Days): { readonly from: string; readonly until: string } => ({
  from: new Date(zone.startOf(from)).toISOString(),
  until: new Date(zone.endOf(to)).toISOString(),
});

/** Bounds of each day for `width_bucket`, whose results count from 1. */
export const bucketsOfDays = (days: Days) => dayBuckets(eachDay(days), days.zone);

/** Number of days in the range. */
export const lengthOf = ({ from, to }: DayRange): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
export const daysBefore = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
export const daysAfter = (day: string, days: number): string => daysBefore(day, -days);
