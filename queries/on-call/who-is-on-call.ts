import { z } from 'zod';
import { availabilityAt } from '../../src/contexts/on-call/domain/reachability.ts';
import type { ShiftCalendars } from '../../src/contexts/on-call/domain/shift-calendars.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { inOrderOfName, onCallShiftView, toShiftView, uncoveredReasons } from './on-call-shift.ts';
import { peopleOnCall, schedulesInTime } from './schedules-in-time.ts';

export const uncoveredScheduleView = z
  .object({ scheduleId: z.uuid(), scheduleName: z.string(), reason: z.enum(uncoveredReasons) })
  .meta({ title: 'UncoveredSchedule' });

export const whoIsOnCallView = z.object({
  onCall: z.array(onCallShiftView),
  uncovered: z.array(uncoveredScheduleView),
});
export type WhoIsOnCall = z.output<typeof whoIsOnCallView>;

export interface AskWhoIsOnCall {
  /** Epoch milliseconds, past or future. */
  readonly at: number;
  /** Undefined: all schedules. */
  readonly scheduleId?: string | undefined;
  readonly calendars: ShiftCalendars;
}

/**
 * Who could be reached at a moment, by schedule, and the schedules with nobody. Schedules, overrides and accounts are
 * read as they were then: what was changed later has no effect. `onCall` is empty if nobody is on call.
 */
export const whoIsOnCall: Query<AskWhoIsOnCall, WhoIsOnCall> = async (reads, { at, scheduleId, calendars }) => {
  const schedules = await schedulesInTime(reads, { from: at, to: at, scheduleId, calendars });
  const spans = await oneAtATime(schedules, (schedule) => ({ schedule, span: schedule.resolver.at(at) }));
  const people = await peopleOnCall(
    reads,
    spans.flatMap(({ span }) => (span.kind === 'shift' ? [span.adminUserId] : [])),
  );
  const onCall: WhoIsOnCall['onCall'] = [];
  const uncovered: WhoIsOnCall['uncovered'] = [];
  for (const { schedule, span } of spans) {
    const named = { scheduleId: schedule.scheduleId, scheduleName: schedule.nameAt(at) };
    if (span.kind === 'gap') {
      uncovered.push({ ...named, reason: span.reason });
      continue;
    }
    const availability = availabilityAt(people.availability, span.adminUserId, at);
    if (availability === 'active') onCall.push({ ...toShiftView(schedule, span, people), ...named });
    else uncovered.push({ ...named, reason: availability });
  }
  return { onCall: onCall.toSorted(inOrderOfName), uncovered: uncovered.toSorted(inOrderOfName) };
};
