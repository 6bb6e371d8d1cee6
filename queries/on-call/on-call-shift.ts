import { z } from 'zod';
import { availabilities } from '../../src/contexts/on-call/domain/reachability.ts';
import { gapReasons, type ShiftSpan } from '../../src/contexts/on-call/domain/schedule-resolver.ts';
import type { People, ScheduleInTime } from './schedules-in-time.ts';

/** OP-189. E-mail and name are null if the account was deleted since. */
export const onCallShiftView = z
  .object({
    scheduleId: z.uuid(),
    scheduleName: z.string(),
    adminUserId: z.uuid(),
    email: z.string().nullable(),
    displayName: z.string().nullable(),
    startsAt: z.iso.datetime(),
    endsAt: z.iso.datetime(),
    isOverride: z.boolean(),
  })
  .meta({ title: 'OnCallShift' });
export type OnCallShiftView = z.output<typeof onCallShiftView>;

/** Why nobody can be reached: nobody has the shift, or the account of the person who has it cannot be used. */
export const uncoveredReasons = [
  ...gapReasons,
  ...availabilities.filter((availability) => availability !== 'active'),
] as const;

export const momentText = (epochMs: number): string => new Date(epochMs).toISOString();

export const toShiftView = (schedule: ScheduleInTime, span: ShiftSpan, people: People): OnCallShiftView => ({
  scheduleId: schedule.scheduleId,
  scheduleName: schedule.nameAt(span.startsAt),
  adminUserId: span.adminUserId,
  ...people.personOf(span.adminUserId),
  startsAt: momentText(span.startsAt),
  endsAt: momentText(span.endsAt),
  isOverride: span.isOverride,
});

/** By the time of the shifts, then by the names of the schedules. */
export const inOrderOfTime = (a: OnCallShiftView, b: OnCallShiftView): number =>
  Date.parse(a.startsAt) - Date.parse(b.startsAt) || inOrderOfName(a, b);

interface NamedSchedule {
  readonly scheduleId: string;
  readonly scheduleName: string;
}
export const inOrderOfName = (a: NamedSchedule, b: NamedSchedule): number =>
  compared(a.scheduleName, b.scheduleName) || compared(a.scheduleId, b.scheduleId);
const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
