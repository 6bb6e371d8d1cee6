import { isDeepStrictEqual } from 'node:util';
import {
  effectiveFrom,
  onCallSchedule,
  onCallScheduleStream,
  unknownParticipants,
} from '../../src/contexts/on-call/domain/schedule.ts';
import type { ScheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, notFound, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates } from '../ports.ts';

interface UpdateOnCallSchedule {
  readonly scheduleId: string;
  /** Fields that are undefined keep their values. */
  readonly changes: { readonly [Name in keyof ScheduleContent]?: ScheduleContent[Name] | undefined };
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
  decide(state, { scheduleId, changes }, { now }, { refused }: Facts) {
    if (!state.content) return notFound();
    if (refused) return refused;
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const wanted: ScheduleContent = { ...state.content, ...given };
    if (wanted.rotationType === 'custom' && wanted.rotationDays === null)
      return invalid('rotationDays', 'is required for a custom rotation');
    const content = wanted.rotationType === 'custom' ? wanted : { ...wanted, rotationDays: null };
    if (isDeepStrictEqual(content, state.content)) return accept([]);
    const effectiveAt = effectiveFrom(state, now);
    return accept([
      { type: 'OnCallScheduleUpdated', data: { scheduleId, version: state.version + 1, effectiveAt, content } },
    ]);
  },
  freshens: ['on_call_schedules', 'on_call_versions'],
});
