import {
  effectiveFrom,
  isOverriddenForLong,
  onCallSchedule,
  onCallScheduleStream,
} from '../../src/contexts/on-call/domain/schedule.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';

interface RemoveOnCallOverride {
  readonly scheduleId: string;
  readonly overrideId: string;
  /** Required while overrides take the schedule from its rotation for long (decision 0162). */
  readonly reauthenticated?: boolean;
}

/** From now on the rotation holds again (F204). Until now the override did. */
export const removeOnCallOverride = defineCommand({
  name: 'RemoveOnCallOverride',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: RemoveOnCallOverride, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  decide(state, { scheduleId, overrideId, reauthenticated }, { now, actor }) {
    if (!state.overrides.has(overrideId)) return notFound();
    const isLong = isOverriddenForLong(state, now);
    const unproved = isLong ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const effectiveAt = effectiveFrom(state, now);
    const removed = { scheduleId, overrideId, effectiveAt, ...(isLong ? { isLong } : {}) };
    return accept([{ type: 'OnCallOverrideRemoved', data: removed }]);
  },
  freshens: ['on_call_overrides'],
});
