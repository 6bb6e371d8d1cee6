import { SEAT } from '../../src/contexts/employees/domain/employee.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
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

/**
 * Numbers that are held as claims: seats of the license, slots of bounded collections.
 *
 * Looking up claims one by one costs a read each in EventStoreDB. This table shows which of thousands are probably
 * free. The claim decides.
 */
export const claimedNumbers: NamedReadModel = defineReadModel({
  name: CLAIMED_NUMBERS,
  version: 1,
  lane: 'main',
  columns: { kind: text, holder: id, number: integer },
  key: ['kind', 'holder'],
  indexes: [['kind', 'number']],
  families: [employeeEvents, ...bounded.map(({ events }) => events as EventFamily)],
  on: {
    EmployeeCreated: ({ data }: RecordedEvent) =>
      held(SEAT, (data as { userId: string }).userId, (data as { seat: number }).seat),
    EmployeeDeleted: ({ data }: RecordedEvent) => released(SEAT, (data as { userId: string }).userId),
    ...Object.fromEntries(bounded.flatMap(({ declared, events }) => slotsOf(declared.noun, events as EventFamily))),
  },
} as NamedReadModel);
