import { onCallEvents } from '../../src/contexts/on-call/domain/events.ts';
import type { ScheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';
import {
  changeExisting,
  defineReadModel,
  id,
  integer,
  json,
  nullable,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  schedule_id: id,
  version: integer,
  content: json<ScheduleContent>(),
  /** The only calendar whose address is valid. */
  calendar_id: nullable(id),
  calendar_shared_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};
export type OnCallScheduleRow = Row<{ columns: typeof columns }>;

const change = changeExisting<OnCallScheduleRow>()('schedule_id');

/** The schedules as they are now. */
export const onCallSchedules = defineReadModel({
  name: 'on_call_schedules',
  version: 2,
  lane: 'main',
  columns,
  key: ['schedule_id'],
  families: [onCallEvents],
  on: {
    OnCallScheduleCreated: ({ data: { scheduleId, version, content, effectiveAt } }) => ({
      key: { schedule_id: scheduleId },
      fold: () => ({
        schedule_id: scheduleId,
        version,
        content,
        calendar_id: null,
        calendar_shared_at: null,
        created_at: effectiveAt,
        updated_at: effectiveAt,
      }),
    }),
    OnCallScheduleUpdated: ({ data: { scheduleId, version, content, effectiveAt } }) =>
      change(scheduleId, (row) => ({ ...row, version, content, updated_at: effectiveAt })),
    OnCallScheduleDeleted: ({ data: { scheduleId } }) => change(scheduleId, () => undefined),
    OnCallCalendarShared: ({ data: { scheduleId, calendarId, effectiveAt } }) =>
      change(scheduleId, (row) => ({ ...row, calendar_id: calendarId, calendar_shared_at: effectiveAt })),
    OnCallCalendarRevoked: ({ data: { scheduleId } }) =>
      change(scheduleId, (row) => ({ ...row, calendar_id: null, calendar_shared_at: null })),
  },
});
