import { isDeepStrictEqual } from 'node:util';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import {
  effectiveFrom,
  onCallSchedule,
  onCallScheduleStream,
  unknownParticipants,
} from '../../src/contexts/on-call/domain/schedule.ts';
import { silencesSchedule } from '../../src/contexts/on-call/domain/rota-change.ts';
import type { ScheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates } from '../ports.ts';

interface UpdateOnCallSchedule {
  readonly scheduleId: string;
  /** Fields that are undefined keep their values. */
  readonly changes: { readonly [Name in keyof ScheduleContent]?: ScheduleContent[Name] | undefined };
  /** Required where somebody is no longer called, or later (decisions 0129 and 0162). */
  readonly reauthenticated?: boolean;
}

interface Facts {
  /** The refusal of the given participants. */
  readonly refused: Failure | undefined;
}

/** Holds from now on: who was on call before does not change. */
export const updateOnCallSchedule = defineCommand({
  name: 'UpdateOnCallSchedule',
  aggregate: onCallSchedule,
  stream: ({ scheduleId }: UpdateOnCallSchedule, { tenantId }) => onCallScheduleStream(tenantId, scheduleId),
  prepare: async ({ changes }: UpdateOnCallSchedule, { aggregates }: WithAggregates, { tenantId }): Promise<Facts> => ({
    refused: unknownParticipants(await aggregates.load(tenant, tenantStream(tenantId)), changes.participants ?? []),
  }),
  decide(state, { scheduleId, changes, reauthenticated }, { now, actor }, { refused }: Facts) {
    if (!state.content) return notFound();
    if (refused) return refused;
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const wanted: ScheduleContent = { ...state.content, ...given };
    if (wanted.rotationType === 'custom' && wanted.rotationDays === null)
      return invalid('rotationDays', 'is required for a custom rotation');
    const content = wanted.rotationType === 'custom' ? wanted : { ...wanted, rotationDays: null };
    if (isDeepStrictEqual(content, state.content)) return accept([]);
    const isSilenced = silencesSchedule(state.content, content, now);
    const unproved = isSilenced ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const effectiveAt = effectiveFrom(state, now);
    const data = {
      scheduleId,
      version: state.version + 1,
      effectiveAt,
      content,
      ...(isSilenced ? { isSilenced } : {}),
    };
    return accept([{ type: 'OnCallScheduleUpdated', data }]);
  },
  freshens: ['on_call_schedules', 'on_call_versions'],
});
