import type { ScheduleContent } from '../../../src/contexts/on-call/domain/schedule-content.ts';
import type { DecidedOverride } from '../../../src/contexts/on-call/domain/schedule-history.ts';

export const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY_MS = 24 * HOUR;

export interface NaiveVersion {
  readonly from: number;
  readonly content: ScheduleContent | null;
}

/** What a clock on the wall of a zone shows, in minutes since 1970-01-01 00:00 on that clock. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat;
  readonly #steady = new Map<number, number | null>();

  constructor(timeZone: string) {
    const numeric = 'numeric';
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
    });
  }

  /** Reads the clock at both ends of an hour, and every minute only if it was changed between them. */
  shows(moment: number): number {
    const hour = Math.floor(moment / HOUR) * HOUR;
    let first = this.#steady.get(hour);
    if (first === undefined) {
      first = this.#read(hour);
      if (this.#read(hour + HOUR - MINUTE) - first !== 59) first = null;
      this.#steady.set(hour, first);
    }
    return first === null ? this.#read(moment) : first + Math.floor((moment - hour) / MINUTE);
  }

  #read(moment: number): number {
    const part: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(moment)) part[type] = Number(value);
    return Date.UTC(part['year']!, part['month']! - 1, part['day'], part['hour'], part['minute']) / MINUTE;
  }
}

const handoff = ({ startDate, handoffTime }: ScheduleContent, days: number): number =>
  (Date.parse(startDate) + days * DAY_MS + Date.parse(`1970-01-01T${handoffTime}Z`)) / MINUTE;

const lengthOf = ({ rotationType, rotationDays }: ScheduleContent): number =>
  ({ daily: 1, weekly: 7, custom: rotationDays! })[rotationType];

/**
 * The number of the shift at every minute of an interval, by watching the clock of the zone go: a handoff is due when
 * the clock shows its time for the first time, or, when the clock jumps over it, as many minutes after the jump as are
 * left to it. Numbers of minutes before the first handoff are negative.
 */
export function watchedShifts(content: ScheduleContent, from: number, minutes: number): number[] {
  const clock = new WallClock(content.timezone);
  const days = lengthOf(content);
  // Early enough for every offset: at this moment the handoffs before it have passed everywhere.
  const start = from - 3 * DAY_MS;
  let shown = clock.shows(start);
  let number = Math.floor((shown - handoff(content, 0)) / (days * 1_440));
  const dueAt: number[] = [];
  const numbers: number[] = [];
  for (let moment = start; moment < from + minutes * MINUTE; moment += MINUTE) {
    const now = clock.shows(moment);
    for (;;) {
      const next = handoff(content, (number + 1 + dueAt.length) * days);
      if (now < next) break;
      dueAt.push(now === next || moment === start ? moment : moment + (next - shown - 1) * MINUTE);
    }
    while (dueAt.length > 0 && dueAt[0]! <= moment) {
      dueAt.shift();
      number += 1;
    }
    if (moment >= from) numbers.push(number);
    shown = now;
  }
  return numbers;
}

/** Who is on call at every minute of an interval, decided minute by minute. Null: nobody. */
export function watchedPeople(
  versions: readonly NaiveVersion[],
  overrides: readonly DecidedOverride[],
  from: number,
  minutes: number,
): (string | null)[] {
  const shifts = versions.map(({ content }) => (content ? watchedShifts(content, from, minutes) : []));
  return Array.from({ length: minutes }, (_, index) => {
    const moment = from + index * MINUTE;
    let held = -1;
    versions.forEach((version, n) => {
      if (version.from <= moment) held = n;
    });
    const content = versions[held]?.content;
    if (!content?.isEnabled) return null;
    const override = overrides.find(
      ({ startsAt, endsAt, createdAt, removedAt }) =>
        startsAt <= moment && moment < endsAt && createdAt <= moment && (removedAt === null || moment < removedAt),
    );
    if (override) return override.adminUserId;
    const number = shifts[held]![index]!;
    return number < 0 ? null : content.participants[number % content.participants.length]!;
  });
}
