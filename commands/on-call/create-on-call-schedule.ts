import {
  effectiveFrom,
  onCallSchedule,
  onCallScheduleStream,
  scheduleSlotClaim,
  scheduleSlots,
  unknownParticipants,
} from '../../src/contexts/on-call/domain/schedule.ts';
import type { ScheduleContent } from '../../src/contexts/on-call/domain/schedule-content.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import { slotFor, type SlotPorts } from '../../src/platform/resources/slots.ts';
import { ZonedDays } from '../../src/platform/time-zones/zoned-days.ts';
import type { WithAggregates } from '../ports.ts';

export interface CreateOnCallSchedule extends Omit<ScheduleContent, 'startDate'> {
  /** Undefined: today, in the schedule's time zone. */
  readonly startDate: string | undefined;
}

interface Facts {
  readonly slot: number;
}

/** The schedule's id is that of the command. */
export const createOnCallSchedule = defineCommand({
  name: 'CreateOnCallSchedule',
  aggregate: onCallSchedule,
  stream: (_input: CreateOnCallSchedule, { tenantId, id }) => onCallScheduleStream(tenantId, id),
  begins: true,
  async prepare({ participants }: CreateOnCallSchedule, ports: WithAggregates & SlotPorts, { tenantId }) {
    const refused = unknownParticipants(await ports.aggregates.load(tenant, tenantStream(tenantId)), participants);
    if (refused) return refused;
    const found = await slotFor(scheduleSlots, tenantId, ports);
    return isFailure(found) ? found : { slot: found.slot! };
  },
  decide(state, input, { id: scheduleId, now }, { slot }: Facts) {
    if (state.content) return acceptWith({ scheduleId }, []);
    const content = { ...input, startDate: input.startDate ?? new ZonedDays(input.timezone).dayOf(now) };
    const created = { scheduleId, slot, version: state.version + 1, effectiveAt: effectiveFrom(state, now), content };
    return acceptWith({ scheduleId }, [{ type: 'OnCallScheduleCreated', data: created }], {
      claim: [scheduleSlotClaim(slot)],
    });
  },
  whenClaimed: () => 'prepareAgain',
  recall: (_before, [event]) => ({ scheduleId: event!.data.scheduleId }),
  freshens: ['on_call_schedules', 'on_call_versions'],
});
