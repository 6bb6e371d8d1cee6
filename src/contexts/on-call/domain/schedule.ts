import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { Claim } from '../../../platform/kernel/command.ts';
import { conflict, invalid, refuseTogether, type Failure } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { refersTo } from '../../../platform/resources/references.ts';
import { slotKind } from '../../../platform/resources/slots.ts';
import type { TenantState } from '../../tenants/domain/tenant.ts';
import { onCallEvents } from './events.ts';
import { MAX_OVERRIDES, MAX_SCHEDULES, type ScheduleContent } from './schedule-content.ts';

interface OverrideState {
  /** Epoch milliseconds. */
  readonly startsAt: number;
  readonly endsAt: number;
}

export interface ScheduleState {
  /** Undefined: not created, or deleted. */
  readonly content: ScheduleContent | undefined;
  readonly version: number;
  readonly slot: number;
  /** Of the newest event, in epoch milliseconds. */
  readonly effectiveAt: number;
  readonly overrides: ReadonlyMap<string, OverrideState>;
  readonly calendarId: string | null;
}

const initial: ScheduleState = {
  content: undefined,
  version: 0,
  slot: 0,
  effectiveAt: 0,
  overrides: new Map(),
  calendarId: null,
};

export const onCallSchedule = defineAggregate<ScheduleState, typeof onCallEvents>(
  onCallEvents,
  initial,
  (before, event) => {
    const state = { ...before, effectiveAt: Date.parse(event.data.effectiveAt) };
    switch (event.type) {
      case 'OnCallScheduleCreated': {
        const { version, slot, content } = event.data;
        return { ...state, version, slot, content };
      }
      case 'OnCallScheduleUpdated':
        return { ...state, version: event.data.version, content: event.data.content };
      case 'OnCallScheduleDeleted':
        return { ...initial, version: event.data.version, effectiveAt: state.effectiveAt };
      case 'OnCallOverrideCreated': {
        const { overrideId, startsAt, endsAt } = event.data;
        const added = { startsAt: Date.parse(startsAt), endsAt: Date.parse(endsAt) };
        return {
          ...state,
          overrides: new Map([...withRoom(before.overrides, state.effectiveAt), [overrideId, added]]),
        };
      }
      case 'OnCallOverrideRemoved': {
        const overrides = new Map(state.overrides);
        overrides.delete(event.data.overrideId);
        return { ...state, overrides };
      }
      case 'OnCallCalendarShared':
        return { ...state, calendarId: event.data.calendarId };
      case 'OnCallCalendarRevoked':
        return { ...state, calendarId: null };
    }
  },
);

/** The state stays bounded: once it is full, overrides that have ended are forgotten. */
const withRoom = (overrides: ScheduleState['overrides'], now: number): ScheduleState['overrides'] =>
  overrides.size < MAX_OVERRIDES ? overrides : new Map([...overrides].filter(([, { endsAt }]) => endsAt > now));

export const onCallScheduleStream = (tenantId: TenantId, scheduleId: string): string =>
  streamName('onCallSchedule', tenantId, scheduleId);

export const scheduleReference = refersTo(
  'an on-call schedule',
  onCallSchedule,
  onCallScheduleStream,
  ({ content }) => content !== undefined,
);

/** For `slotFor`: the limit of schedules is exact. */
export const scheduleSlots = { noun: 'onCallSchedule', most: MAX_SCHEDULES } as const;
export const scheduleSlotClaim = (slot: number): Claim => ({
  kind: slotKind(scheduleSlots.noun),
  value: String(slot),
});

/** When a decision takes effect: now, but after everything that was decided before. RFC 3339. */
export const effectiveFrom = ({ effectiveAt }: ScheduleState, now: number): string =>
  new Date(Math.max(now, effectiveAt + 1)).toISOString();

/** Every new participant must be an administrator of the tenant. Those of before may have been deleted meanwhile. */
export function unknownParticipants(
  { admins }: Pick<TenantState, 'admins'>,
  participants: readonly string[],
): Failure | undefined {
  return refuseTogether(
    ...participants.map((adminId, at) =>
      admins.has(adminId) ? undefined : invalid(`participants.${at}`, 'is not the id of an administrator'),
    ),
  );
}

/** People swap shifts freely for so many days: all overrides of a schedule that have not ended, together (decision 0129). */
export const FREE_OVERRIDE_DAYS = 7;

/** Together with the overrides that are still to come, it takes a schedule from its rotation for long. */
export const isLongOverride = ({ overrides }: ScheduleState, added: OverrideState, now: number): boolean =>
  takeLong([...overrides.values(), added], now);

/** Others stand in for long: whoever removes one of them may put somebody on call who is away (decision 0162). */
export const isOverriddenForLong = ({ overrides }: ScheduleState, now: number): boolean =>
  takeLong([...overrides.values()], now);

const takeLong = (overrides: readonly OverrideState[], now: number): boolean =>
  overrides
    .map(({ startsAt, endsAt }) => Math.max(0, endsAt - Math.max(startsAt, now)))
    .reduce((sum, one) => sum + one, 0) >
  FREE_OVERRIDE_DAYS * 86_400_000;

export function refusedOverride(
  { overrides }: ScheduleState,
  { startsAt, endsAt }: OverrideState,
  now: number,
): Failure | undefined {
  if (endsAt <= startsAt) return invalid('endsAt', 'must be after startsAt');
  if ([...overrides.values()].some((other) => other.startsAt < endsAt && startsAt < other.endsAt))
    return conflict('overrides_overlap');
  return withRoom(overrides, now).size < MAX_OVERRIDES
    ? undefined
    : conflict('limit_reached', `no more than ${MAX_OVERRIDES} overrides of a schedule`);
}
