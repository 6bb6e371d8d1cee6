import { isDeepStrictEqual } from 'node:util';
import { planOf, shiftDaysOf, type ScheduleContent } from './schedule-content.ts';
import { ScheduleResolver } from './schedule-resolver.ts';
import { ShiftCalendars } from './shift-calendars.ts';

/** Turns are compared for so many days, and for every participant's turn at least once. */
const COMPARED_DAYS = 56;
/** Of another zone: clocks that agree today may differ in another season. */
const COMPARED_DAYS_OF_ZONES = 400;
const DAY_MS = 86_400_000;

/**
 * A change after which somebody is not called who would have been, or later (decisions 0129 and 0162). What an off
 * schedule says counts as well: it holds once somebody switches it on again.
 */
export const silencesSchedule = (before: ScheduleContent, after: ScheduleContent, now: number): boolean =>
  (before.isEnabled && !after.isEnabled) ||
  !isDeepStrictEqual(before.participants, after.participants) ||
  escalatesLess(before, after) ||
  movesTurns(before, after, now);

/** Pages that no longer go on to the next person, or later, or in fewer rounds. */
const escalatesLess = (before: ScheduleContent, after: ScheduleContent): boolean =>
  before.escalationMinutes !== null &&
  (after.escalationMinutes === null ||
    after.escalationMinutes > before.escalationMinutes ||
    after.escalationRounds < before.escalationRounds);

/**
 * Another person is on call, or nobody, at a moment at which the schedule before had somebody. Overrides are left out: they
 * stay whatever the rotation does. The participants are the same.
 */
function movesTurns(before: ScheduleContent, after: ScheduleContent, now: number): boolean {
  if (isDeepStrictEqual(planOf(before), planOf(after))) return false;
  // Of shifts of another length, some end earlier or later, however long it takes.
  const isShared = new Set(before.participants).size > 1;
  if (isShared && shiftDaysOf(before) !== shiftDaysOf(after)) return true;
  const calendars = new ShiftCalendars();
  const [was, is] = [rotationOf(before, calendars), rotationOf(after, calendars)];
  const from = Math.max(now, calendars.of(planOf(before)).start(0));
  const atLeast = before.timezone === after.timezone ? COMPARED_DAYS : COMPARED_DAYS_OF_ZONES;
  const days = Math.max(atLeast, isShared ? before.participants.length * shiftDaysOf(before) : 0);
  for (let moment = from; moment < from + days * DAY_MS;) {
    const [one, other] = [was.at(moment), is.at(moment)];
    if (one.kind === 'shift' && (other.kind === 'gap' || other.adminUserId !== one.adminUserId)) return true;
    moment = Math.min(one.endsAt, other.endsAt);
  }
  return false;
}

const rotationOf = (content: ScheduleContent, calendars: ShiftCalendars): ScheduleResolver =>
  new ScheduleResolver(
    { versions: [{ from: -Infinity, content: { ...content, isEnabled: true } }], overrides: [] },
    calendars,
  );
