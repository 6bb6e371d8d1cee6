import { SEAT } from '../../src/contexts/employees/domain/employee.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { extensionRolloutEvents } from '../../src/contexts/extension-rollouts/domain/events.ts';
import { rolloutSlots } from '../../src/contexts/extension-rollouts/domain/rollout.ts';
import { onCallEvents } from '../../src/contexts/on-call/domain/events.ts';
import { scheduleSlots } from '../../src/contexts/on-call/domain/schedule.ts';
import type { EventFamily, RecordedEvent } from '../../src/platform/kernel/event.ts';
import { defineReadModel, id, integer, text, type NamedReadModel } from '../../src/platform/kernel/read-model.ts';
import { CLAIMED_NUMBERS } from '../../src/platform/numbers/claimed-numbers.ts';
import { resources } from '../../src/contexts/resources.ts';
import { slotKind } from '../../src/platform/resources/slots.ts';

interface Holder {
  readonly id: string;
  readonly slot?: number;
}

const held = (kind: string, holder: string, number: number) => ({
  key: { kind, holder },
  begins: true as const,
  fold: () => ({ kind, holder, number }),
});
const released = (kind: string, holder: string) => ({ key: { kind, holder }, fold: () => undefined });

/** The slots of one declared collection. A record created before the limit was introduced holds none. */
function slotsOf(noun: string, events: EventFamily): [string, (event: RecordedEvent) => unknown][] {
  const [created, , deleted] = Object.keys(events.definitions) as [string, string, string];
  const kind = slotKind(noun);
  return [
    [
      created,
      ({ data }) =>
        (data as Holder).slot === undefined ? [] : held(kind, (data as Holder).id, (data as Holder).slot!),
    ],
    [deleted, ({ data }) => released(kind, (data as Holder).id)],
  ];
}

const bounded = resources.flatMap((resource) =>
  resource.kind === 'collection' && resource.declared.most !== undefined ? [resource] : [],
);

const endedRollout = ({ data }: RecordedEvent) =>
  released(slotKind(rolloutSlots.noun), (data as { rolloutId: string }).rolloutId);

/**
 * Numbers that are held as claims: seats of the license, slots of bounded collections.
 *
 * Looking up claims one by one costs a read each in EventStoreDB. This table shows which of thousands are probably
 * free. The claim decides.
 */
export const claimedNumbers: NamedReadModel = defineReadModel({
  name: CLAIMED_NUMBERS,
  version: 3,
  lane: 'main',
  columns: { kind: text, holder: id, number: integer },
  key: ['kind', 'holder'],
  indexes: [['kind', 'number']],
  families: [
    employeeEvents,
    onCallEvents,
    extensionRolloutEvents,
    ...bounded.map(({ events }) => events as EventFamily),
  ],
  on: {
    EmployeeCreated: ({ data }: RecordedEvent) =>
      held(SEAT, (data as { userId: string }).userId, (data as { seat: number }).seat),
    EmployeeDeleted: ({ data }: RecordedEvent) => released(SEAT, (data as { userId: string }).userId),
    OnCallScheduleCreated: ({ data }: RecordedEvent) => {
      const { scheduleId, slot } = data as { scheduleId: string; slot: number };
      return held(slotKind(scheduleSlots.noun), scheduleId, slot);
    },
    OnCallScheduleDeleted: ({ data }: RecordedEvent) =>
      released(slotKind(scheduleSlots.noun), (data as { scheduleId: string }).scheduleId),
    ExtensionRolloutDrafted: ({ data }: RecordedEvent) => {
      const { rolloutId, slot } = data as { rolloutId: string; slot: number };
      return held(slotKind(rolloutSlots.noun), rolloutId, slot);
    },
    ExtensionRolloutDeleted: endedRollout,
    ExtensionRolloutCompleted: endedRollout,
    ExtensionRolloutRolledBack: endedRollout,
    ...Object.fromEntries(bounded.flatMap(({ declared, events }) => slotsOf(declared.noun, events as EventFamily))),
  },
} as NamedReadModel);
