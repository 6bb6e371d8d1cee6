import { z } from 'zod';
import { unreachableTimes } from '../../src/contexts/on-call/domain/reachability.ts';
import { gapReasons, type GapSpan, type ShiftSpan } from '../../src/contexts/on-call/domain/schedule-resolver.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { inOrderOfName, momentText } from './on-call-shift.ts';
import {
  peopleOnCall,
  schedulesInTime,
  type People,
  type ScheduleInterval,
  type ScheduleInTime,
} from './schedules-in-time.ts';

/** The longest list for each schedule. The counts include what it leaves out. */
export const MAX_HOLES = 100;

const times = { startsAt: z.iso.datetime(), endsAt: z.iso.datetime() };
export const onCallCoverageView = z
  .object({
    scheduleId: z.uuid(),
    scheduleName: z.string(),
    isCovered: z.boolean(),
    /** Nobody has the shift. */
    gaps: z.array(z.object({ ...times, reason: z.enum(gapReasons) })),
    gapCount: z.int(),
    /** The person who has the shift cannot be reached. */
    unreachable: z.array(
      z.object({
        adminUserId: z.uuid(),
        email: z.string().nullable(),
        displayName: z.string().nullable(),
        ...times,
        reason: z.enum(['suspended', 'deleted']),
      }),
    ),
    unreachableCount: z.int(),
  })
  .meta({ title: 'OnCallCoverage' });
type OnCallCoverage = z.output<typeof onCallCoverageView>;

/** The times of an interval in which nobody could be reached, by schedule. */
export const onCallCoverage: Query<ScheduleInterval, { coverage: OnCallCoverage[]; total: number }> = async (
  reads,
  interval,
) => {
  const schedules = await schedulesInTime(reads, interval);
  const spans = await oneAtATime(schedules, (schedule) => {
    const all = [...schedule.resolver.between(interval.from, interval.to)];
    return {
      schedule,
      gaps: all.filter((span): span is GapSpan => span.kind === 'gap'),
      shifts: all.filter((span): span is ShiftSpan => span.kind === 'shift'),
    };
  });
  const people = await peopleOnCall(
    reads,
    spans.flatMap(({ shifts }) => shifts.map(({ adminUserId }) => adminUserId)),
  );
  const coverage = spans
    .map(({ schedule, gaps, shifts }) => coverageOf(schedule, gaps, shifts, people, interval))
    .toSorted(inOrderOfName);
  return { coverage, total: coverage.length };
};

function coverageOf(
  { scheduleId, nameAt }: ScheduleInTime,
  gaps: readonly GapSpan[],
  shifts: readonly ShiftSpan[],
  people: People,
  { from, to }: ScheduleInterval,
): OnCallCoverage {
  const within = ({ startsAt, endsAt }: { startsAt: number; endsAt: number }) => ({
    startsAt: momentText(Math.max(startsAt, from)),
    endsAt: momentText(Math.min(endsAt, to)),
  });
  const unreachable = shifts.flatMap(({ adminUserId, startsAt, endsAt }) =>
    unreachableTimes(people.availability, adminUserId, Math.max(startsAt, from), Math.min(endsAt, to)).map(
      ({ reason, ...time }) => ({ adminUserId, ...people.personOf(adminUserId), ...within(time), reason }),
    ),
  );
  return {
    scheduleId,
    scheduleName: nameAt(to),
    isCovered: gaps.length === 0 && unreachable.length === 0,
    gaps: gaps.slice(0, MAX_HOLES).map((span) => ({ ...within(span), reason: span.reason })),
    gapCount: gaps.length,
    unreachable: unreachable.slice(0, MAX_HOLES),
    unreachableCount: unreachable.length,
  };
}
