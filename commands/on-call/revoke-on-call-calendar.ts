import { effectiveFrom, onCallSchedule, onCallScheduleStream } from '../../src/contexts/on-call/domain/schedule.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeOnCallCalendar {
  readonly scheduleId: string;
}

/** The address stops working. Without one, nothing has to change. */
export const revokeOnCallCalendar = defineCommand({
  name: 'RevokeOnCallCalendar',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: RevokeOnCallCalendar, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  decide(state, { scheduleId }, { now }) {
    if (!state.content) return notFound();
    if (state.calendarId === null) return accept([]);
    const revoked = { scheduleId, calendarId: state.calendarId, effectiveAt: effectiveFrom(state, now) };
    return accept([{ type: 'OnCallCalendarRevoked', data: revoked }]);
  },
  freshens: ['on_call_schedules'],
});
