import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import {
  effectiveFrom,
  isLongOverride,
  onCallSchedule,
  onCallScheduleStream,
  refusedOverride,
} from '../../src/contexts/on-call/domain/schedule.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFoundIn } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates } from '../ports.ts';

interface CreateOnCallOverride {
  readonly scheduleId: string;
  readonly adminUserId: string;
  /** RFC 3339 in UTC. */
  readonly startsAt: string;
  readonly endsAt: string;
  readonly reason: string | null;
  /** Required for a long one (decision 0129). */
  readonly reauthenticated?: boolean;
}

interface Facts {
  readonly isActive: boolean;
}

/**
 * The override's id is that of the command. It names a substitute, so that person must be able to take over: a suspended
 * one is refused.
 */
export const createOnCallOverride = defineCommand({
  name: 'CreateOnCallOverride',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: CreateOnCallOverride, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  async prepare({ adminUserId }: CreateOnCallOverride, { aggregates }: WithAggregates, { tenantId }): Promise<Facts> {
    const { admins } = await aggregates.load(tenant, tenantStream(tenantId));
    return { isActive: admins.get(adminUserId)?.status === 'active' };
  },
  decide(state, { startsAt, endsAt, reauthenticated, ...input }, { id: overrideId, now, actor }, { isActive }: Facts) {
    if (!state.content) return notFoundIn('scheduleId', 'an on-call schedule');
    if (state.overrides.has(overrideId)) return acceptWith({ overrideId }, []);
    if (!isActive) return invalid('adminUserId', 'is not the id of an active administrator');
    const refused = refusedOverride(state, { startsAt: Date.parse(startsAt), endsAt: Date.parse(endsAt) }, now);
    if (refused) return refused;
    const isLong = isLongOverride(state, { startsAt: Date.parse(startsAt), endsAt: Date.parse(endsAt) }, now);
    const unproved = isLong ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const data = {
      ...input,
      overrideId,
      startsAt,
      endsAt,
      effectiveAt: effectiveFrom(state, now),
      ...(isLong ? { isLong } : {}),
    };
    return acceptWith({ overrideId }, [{ type: 'OnCallOverrideCreated', data }]);
  },
  recall: (_before, [event]) => ({
    overrideId: (event as Extract<typeof event, { type: 'OnCallOverrideCreated' }>).data.overrideId,
  }),
  freshens: ['on_call_overrides'],
});
