import { orThrow } from '../../src/platform/kernel/failure.ts';
import { invalid } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { tenantDays } from './tenant-days.ts';

/** Both ends inclusive, RFC 3339 in UTC. */
export interface Interval {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Each end is an RFC 3339 time in UTC with milliseconds, or a calendar day. */
export interface NamedInterval {
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
}

export const isDay = (end: string | undefined): boolean => end?.length === 10;

/** The interval that a request names. Days are those of the tenant's time zone; a day as the end means all of it. */
export const intervalOf: Query<NamedInterval, Interval> = async (reads, { start_date: start, end_date: end }) => {
  const days = isDay(start) || isDay(end) ? orThrow(await tenantDays(reads, undefined)) : undefined;
  const from = days && isDay(start) ? new Date(days.startOf(start!)).toISOString() : start;
  const to = days && isDay(end) ? new Date(days.endOf(end!) - 1).toISOString() : end;
  return from && to && from > to ? invalid('start_date', 'must not be after end_date') : { from, to };
};
