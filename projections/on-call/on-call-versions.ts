import { onCallEvents } from '../../src/contexts/on-call/domain/events.ts';
import type { ScheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';
import {
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
  effective_at: timestamp,
  /** The start of the next version, or the schedule's deletion; null: it holds. */
  ended_at: nullable(timestamp),
};
export type OnCallVersionRow = Row<{ columns: typeof columns }>;

const begun = (scheduleId: string, version: number, content: ScheduleContent, effectiveAt: string) => ({
  key: { schedule_id: scheduleId, version },
  fold: () => ({ schedule_id: scheduleId, version, content, effective_at: effectiveAt, ended_at: null }),
});
const ended = (scheduleId: string, version: number, endedAt: string) => ({
  key: { schedule_id: scheduleId, version },
  fold: (row: OnCallVersionRow | undefined) => row && { ...row, ended_at: endedAt },
});

/** Every version of every schedule, also of deleted ones: who was on call then stays known. */
export const onCallVersions = defineReadModel({
  name: 'on_call_versions',
  version: 2,
  lane: 'main',
  columns,
  key: ['schedule_id', 'version'],
  indexes: [['ended_at', 'effective_at']],
  families: [onCallEvents],
  on: {
    OnCallScheduleCreated: ({ data: { scheduleId, version, content, effectiveAt } }) =>
      begun(scheduleId, version, content, effectiveAt),
    OnCallScheduleUpdated: ({ data: { scheduleId, version, content, effectiveAt } }) => [
      ended(scheduleId, version - 1, effectiveAt),
      begun(scheduleId, version, content, effectiveAt),
    ],
    OnCallScheduleDeleted: ({ data: { scheduleId, version, effectiveAt } }) =>
      ended(scheduleId, version - 1, effectiveAt),
  },
});
