import type { ScheduleContent } from './schedule-content.ts';

/** What a schedule said from a moment on. */
export interface ScheduleVersion {
  /** Epoch milliseconds. */
  readonly from: number;
  /** Null: from then on the schedule is deleted. */
  readonly content: ScheduleContent | null;
}

/** The time in which an override held or will hold. */
export interface OverridePeriod {
  readonly adminUserId: string;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** An override as it was decided. All times in epoch milliseconds. */
export interface DecidedOverride {
  readonly adminUserId: string;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly createdAt: number;
  readonly removedAt: number | null;
}

export interface ScheduleHistory {
  /** From the oldest on. */
  readonly versions: readonly ScheduleVersion[];
  /** In the order of time; they do not overlap. */
  readonly overrides: readonly OverridePeriod[];
}

/**
 * An override holds from its creation at the earliest, and until its removal at the latest: who was on call before does
 * not change afterwards. Periods of overrides that were decided without overlap do not overlap either.
 */
export const periodsOf = (overrides: readonly DecidedOverride[]): OverridePeriod[] =>
  overrides
    .map(({ adminUserId, startsAt, endsAt, createdAt, removedAt }) => ({
      adminUserId,
      from: Math.max(startsAt, createdAt),
      to: Math.min(endsAt, removedAt ?? endsAt),
    }))
    .filter(({ from, to }) => from < to)
    .toSorted((a, b) => a.from - b.from);

/** The position of the last item that begins at or before a moment; -1 if there is none. */
export function lastBegun(items: readonly { readonly from: number }[], moment: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.from <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
