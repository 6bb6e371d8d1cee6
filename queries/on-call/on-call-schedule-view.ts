import { z } from 'zod';
import { onCallOverrides, type OnCallOverrideRow } from '../../projections/on-call/on-call-overrides.ts';
import { onCallSchedules, type OnCallScheduleRow } from '../../projections/on-call/on-call-schedules.ts';
import { MAX_OVERRIDES, scheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { grouped } from './grouped.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { Query, TenantReads } from '../../src/platform/kernel/query.ts';

/** OP-188. */
export const onCallOverrideView = z
  .object({
    id: z.uuid(),
    scheduleId: z.uuid(),
    adminUserId: z.uuid(),
    startsAt: z.iso.datetime(),
    endsAt: z.iso.datetime(),
    reason: z.string().nullable(),
    createdBy: z.uuid().nullable(),
    createdAt: z.iso.datetime(),
  })
  .meta({ title: 'OnCallOverride' });
type OnCallOverrideView = z.output<typeof onCallOverrideView>;

/** OP-187. */
export const onCallScheduleView = z
  .object({
    id: z.uuid(),
    ...scheduleContent.shape,
    overrides: z.array(onCallOverrideView),
    calendarSharedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ title: 'OnCallSchedule' });
type OnCallScheduleView = z.output<typeof onCallScheduleView>;

const toOverrideView = (row: OnCallOverrideRow): OnCallOverrideView => ({
  id: row.override_id,
  scheduleId: row.schedule_id,
  adminUserId: row.admin_user_id,
  startsAt: row.starts_at,
  endsAt: row.ends_at,
  reason: row.reason,
  createdBy: row.created_by,
  createdAt: row.created_at,
});

const toScheduleView = (row: OnCallScheduleRow, overrides: readonly OnCallOverrideRow[]): OnCallScheduleView => ({
  id: row.schedule_id,
  ...row.content,
  overrides: overrides.map(toOverrideView),
  calendarSharedAt: row.calendar_shared_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Of each schedule, those that end last: as many as a decision looks at. */
const OVERRIDES = `
  select * from (
    select o.*, row_number() over (partition by o.schedule_id order by o.ends_at desc, o.override_id) as place
      from on_call_overrides o
      join on_call_schedules s on s.tenant_id = o.tenant_id and s.schedule_id = o.schedule_id
     where o.tenant_id = $1 and ($2::uuid is null or o.schedule_id = $2) and o.removed_at is null) ranked
   where place <= ${MAX_OVERRIDES}
   order by starts_at, override_id`;
const SCHEDULES = `
  select * from on_call_schedules where tenant_id = $1 and ($2::uuid is null or schedule_id = $2)
   order by created_at desc, schedule_id`;

async function viewsOf(reads: TenantReads, scheduleId: string | null): Promise<OnCallScheduleView[]> {
  const [schedules, overrides] = await Promise.all([
    reads.rows<OnCallScheduleRow>(SCHEDULES, [scheduleId]),
    reads.rows<OnCallOverrideRow>(OVERRIDES, [scheduleId]),
  ]);
  const bySchedule = grouped(overrides, ({ schedule_id: id }) => id);
  return schedules.map((row) => toScheduleView(row, bySchedule.get(row.schedule_id) ?? []));
}

export const listOnCallSchedules: Query<undefined, { schedules: OnCallScheduleView[]; total: number }> = async (
  reads,
) => {
  const schedules = await viewsOf(reads, null);
  return { schedules, total: schedules.length };
};

export const getOnCallSchedule: Query<{ scheduleId: string }, OnCallScheduleView> = async (reads, { scheduleId }) =>
  (await viewsOf(reads, scheduleId))[0] ?? notFound();

export const getOnCallOverride: Query<{ overrideId: string }, OnCallOverrideView> = async (reads, { overrideId }) => {
  const row = await reads.one<OnCallOverrideRow>(
    'select * from on_call_overrides where tenant_id = $1 and override_id = $2 and removed_at is null',
    [overrideId],
  );
  return row ? toOverrideView(row) : notFound();
};

/** From the events that created them. */
export const viewOfNewOnCallSchedule =
  (scheduleId: string) =>
  (events: readonly RecordedEvent[]): OnCallScheduleView | undefined => {
    const row = newRow(onCallSchedules, { schedule_id: scheduleId }, events);
    return row && toScheduleView(row, []);
  };
export const viewOfNewOnCallOverride =
  (overrideId: string) =>
  (events: readonly RecordedEvent[]): OnCallOverrideView | undefined => {
    const row = newRow(onCallOverrides, { override_id: overrideId }, events);
    return row && toOverrideView(row);
  };
