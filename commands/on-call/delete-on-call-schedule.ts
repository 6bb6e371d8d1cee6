import {
  effectiveFrom,
  onCallSchedule,
  onCallScheduleStream,
  scheduleSlotClaim,
} from '../../src/contexts/on-call/domain/schedule.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DeleteOnCallSchedule {
  readonly scheduleId: string;
}

/** Its overrides and its calendar end too. Who was on call before stays known. */
export const deleteOnCallSchedule = defineCommand({
  name: 'DeleteOnCallSchedule',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: DeleteOnCallSchedule, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  decide(state, { scheduleId }, { now }) {
    if (!state.content) return notFound();
    const deleted = { scheduleId, version: state.version + 1, effectiveAt: effectiveFrom(state, now) };
    return accept([{ type: 'OnCallScheduleDeleted', data: deleted }], { release: [scheduleSlotClaim(state.slot)] });
  },
  freshens: ['on_call_schedules', 'on_call_versions'],
});
