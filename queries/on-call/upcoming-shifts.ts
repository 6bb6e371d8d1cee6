import type { ShiftSpan } from '../../src/contexts/on-call/domain/schedule-resolver.ts';
import { availabilityAt } from '../../src/contexts/on-call/domain/reachability.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { inOrderOfTime, toShiftView, type OnCallShiftView } from './on-call-shift.ts';
import { peopleOnCall, schedulesInTime, type ScheduleInterval } from './schedules-in-time.ts';

/** A response of 250 schedules with daily shifts for 90 days would have 22,500. */
export const MAX_SHIFTS = 5_000;

/**
 * The shifts that begin in an interval, the first ones if there are too many; `total` counts all. Shifts of people whose
 * accounts cannot be used are left out, as they put nobody on call.
 */
export const upcomingShifts: Query<ScheduleInterval, { shifts: OnCallShiftView[]; total: number }> = async (
  reads,
  interval,
) => {
  const schedules = await schedulesInTime(reads, interval);
  const bySchedule = await oneAtATime(schedules, (schedule) =>
    [...schedule.resolver.between(interval.from, interval.to)]
      .filter((span): span is ShiftSpan => span.kind === 'shift' && span.startsAt > interval.from)
      .map((span) => ({ schedule, span })),
  );
  const begun = bySchedule.flat();
  const people = await peopleOnCall(
    reads,
    begun.map(({ span }) => span.adminUserId),
  );
  const shifts = begun
    .filter(({ span }) => availabilityAt(people.availability, span.adminUserId, span.startsAt) === 'active')
    .map(({ schedule, span }) => toShiftView(schedule, span, people))
    .toSorted(inOrderOfTime);
  return { shifts: shifts.slice(0, MAX_SHIFTS), total: shifts.length };
};
