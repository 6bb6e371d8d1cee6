import { effectiveFrom, onCallSchedule, onCallScheduleStream } from '../../src/contexts/on-call/domain/schedule.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RemoveOnCallOverride {
  readonly scheduleId: string;
  readonly overrideId: string;
}

/** From now on the rotation holds again (F204). Until now the override did. */
export const removeOnCallOverride = defineCommand({
  name: 'RemoveOnCallOverride',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: RemoveOnCallOverride, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  decide(state, { scheduleId, overrideId }, { now }) {
    if (!state.overrides.has(overrideId)) return notFound();
    const removed = { scheduleId, overrideId, effectiveAt: effectiveFrom(state, now) };
    return accept([{ type: 'OnCallOverrideRemoved', data: removed }]);
  },
  freshens: ['on_call_overrides'],
});
