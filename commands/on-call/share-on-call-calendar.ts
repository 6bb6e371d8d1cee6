import { effectiveFrom, onCallSchedule, onCallScheduleStream } from '../../src/contexts/on-call/domain/schedule.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface ShareOnCallCalendar {
  readonly scheduleId: string;
}

/** The calendar's id is that of the command. The address with the calendar of before stops working. */
export const shareOnCallCalendar = defineCommand({
  name: 'ShareOnCallCalendar',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: ShareOnCallCalendar, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  decide(state, { scheduleId }, { id: calendarId, now }) {
    if (!state.content) return notFound();
    if (state.calendarId === calendarId) return acceptWith({ calendarId }, []);
    const shared = { scheduleId, calendarId, effectiveAt: effectiveFrom(state, now) };
    return acceptWith({ calendarId }, [{ type: 'OnCallCalendarShared', data: shared }]);
  },
  freshens: ['on_call_schedules'],
});
