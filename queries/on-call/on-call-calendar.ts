import type { OnCallScheduleRow } from '../../projections/on-call/on-call-schedules.ts';
import type { ShiftCalendars } from '../../src/contexts/on-call/domain/shift-calendars.ts';
import { forbidden } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toShiftView, type OnCallShiftView } from './on-call-shift.ts';
import { peopleOnCall, schedulesInTime } from './schedules-in-time.ts';

const DAY_MS = 86_400_000;
const DAYS_BACK = 30;
const DAYS_AHEAD = 90;
/** A schedule that was changed more often is shown from its newest changes on. */
const MAX_VERSIONS = 200;

const SCHEDULE = 'select * from on_call_schedules where tenant_id = $1 and schedule_id = $2 and calendar_id = $3';
const SINCE = `
  select effective_at from on_call_versions where tenant_id = $1 and schedule_id = $2
   order by version desc offset ${MAX_VERSIONS} limit 1`;

interface AskCalendar {
  readonly scheduleId: string;
  readonly calendarId: string;
  readonly now: number;
  readonly calendars: ShiftCalendars;
}

export interface OnCallCalendar {
  readonly name: string;
  readonly shifts: readonly OnCallShiftView[];
}

/** The shifts of a schedule around now. 403 for a calendar that is not the shared one: its address was revoked. */
export const onCallCalendar: Query<AskCalendar, OnCallCalendar> = async (
  reads,
  { scheduleId, calendarId, now, calendars },
) => {
  const shared = await reads.one<OnCallScheduleRow>(SCHEDULE, [scheduleId, calendarId]);
  if (!shared) return forbidden('address_invalid');
  const since = await reads.one<{ effective_at: string }>(SINCE, [scheduleId]);
  const from = Math.max(now - DAYS_BACK * DAY_MS, since ? Date.parse(since.effective_at) : 0);
  const to = now + DAYS_AHEAD * DAY_MS;
  const [schedule] = await schedulesInTime(reads, { from, to, scheduleId, calendars });
  const spans = schedule ? [...schedule.resolver.between(from, to)] : [];
  const shifts = spans.flatMap((span) => (span.kind === 'shift' && span.endsAt > from ? [span] : []));
  const people = await peopleOnCall(
    reads,
    shifts.map(({ adminUserId }) => adminUserId),
  );
  return {
    name: shared.content.name,
    shifts: shifts.map((span) => toShiftView(schedule!, span, people)),
  };
};
