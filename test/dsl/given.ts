import { expect } from 'vitest';
import type { Aggregate } from '../../src/platform/kernel/aggregate.ts';
import type { Claim, Command, CommandContext, Decision, SecretRef } from '../../src/platform/kernel/command.ts';
import type { DomainEvent, Envelope, EventFamily, EventOf, RecordedEvent } from '../../src/platform/kernel/event.ts';
import { isFailure, type Failure } from '../../src/platform/kernel/failure.ts';
import { asTenantId } from '../../src/platform/kernel/ids.ts';
import type { AnyReadModel } from '../../src/platform/kernel/read-model.ts';
import { families } from '../../src/contexts/families.ts';
import { eventCheck } from './event-check.ts';
import { secretsIn } from './secrets-in.ts';
import { WorkingSet, type RowStep } from '../../src/platform/projector/working-set.ts';

export const TENANT = asTenantId('11111111-1111-4111-8111-111111111111');
export const NOW = Date.parse('2026-06-01T12:00:00.000Z');

export const context = (over: Partial<CommandContext> = {}): CommandContext => ({
  tenantId: TENANT,
  actor: { kind: 'admin', id: '22222222-2222-4222-8222-222222222222' },
  now: NOW,
  id: '33333333-3333-4333-8333-333333333333',
  correlationId: '33333333-3333-4333-8333-333333333333',
  causationId: '33333333-3333-4333-8333-333333333333',
  ...over,
});

/** Shown by the compiler where a history holds events that the aggregate of the command never gets. */
interface NotOfThisAggregate<Event extends DomainEvent> {
  readonly 'the history holds events of another aggregate': Event['type'];
}

/**
 * Histories of these families. Events with a wrong name, wrong data, or of another aggregate or model do not compile;
 * those with data that only the schema can refuse fail at once.
 */
export function historiesOf<Family extends EventFamily>(families: readonly Family[]) {
  const check = eventCheck(families);

  /** given(events).when(command, input).then(...): the domain without any I/O. */
  const given = <History extends readonly EventOf<Family>[]>(...history: History) => {
    history.forEach(check);
    return {
      when<Input, State, Written extends DomainEvent, Needs, Facts, Result>(
        command: Command<Input, State, Written, Needs, Facts, Result> &
          ([History[number]] extends [Written] ? unknown : NotOfThisAggregate<Exclude<History[number], Written>>),
        input: Input,
        facts?: Facts,
        over: Partial<CommandContext> = {},
      ) {
        const aggregate: Aggregate<State, Written> = command.aggregate;
        const state = history.reduce(
          (folded, event) => aggregate.fold(folded, event as unknown as Written),
          aggregate.initial,
        );
        const decision = command.decide(state, input, context(over), facts as Facts);
        if (!isFailure(decision)) {
          decision.events.forEach(check);
          expectNoSecretLeftBehind(command, state, decision);
        }
        return outcome(decision);
      },
    };
  };

  /** An event as a projection would get it; the n-th of a test stands at position n. */
  const recorded = <Recorded extends EventOf<Family>>(
    event: Recorded,
    n: number,
    over: Partial<Envelope> = {},
  ): RecordedEvent<Recorded> => {
    check(event);
    return inEnvelope(event, n, over);
  };

  /** These events as a projection would get them, one after the other. */
  const history = <Events extends readonly EventOf<Family>[]>(...events: Events): RecordedEvent<Events[number]>[] =>
    events.map((event, index) => recorded(event, index + 1));

  return { given, recorded, history };
}

export const { given, recorded, history } = historiesOf(families);

/** Holds for every decision that a test makes: it gives up exactly the secrets that the state refers to no more. */
function expectNoSecretLeftBehind<State, E extends DomainEvent>(
  { name, aggregate }: { readonly name: string; readonly aggregate: Aggregate<State, E> },
  before: State,
  { events, forget }: Decision<E, unknown>,
) {
  const lost = secretsIn(before);
  for (const kept of secretsIn(events.reduce((folded, event) => aggregate.fold(folded, event), before)))
    if (lost.includes(kept)) lost.splice(lost.indexOf(kept), 1);
  expect([...forget].sort(), `${name} forgets the secrets that its events give up, and no others`).toEqual(lost.sort());
}

/** Claims without the fields that a refusal names. */
const identities = (claims: readonly Claim[] | undefined) => claims?.map(({ fields: _named, ...claim }) => claim);

function outcome<E extends DomainEvent, Result>(decision: Decision<E, Result> | Failure) {
  const accepted = (): Decision<E, Result> => {
    if (isFailure(decision)) throw new Error(`refused: ${decision.kind} ${decision.message}`);
    return decision;
  };
  return {
    then: (...events: E[]) => expect(accepted().events).toEqual(events),
    thenTypes: (...types: E['type'][]) => expect(accepted().events.map(({ type }) => type)).toEqual(types),
    thenNothing: () => expect(accepted().events).toEqual([]),
    thenRefused: (kind: Failure['kind'], message?: string) => {
      expect(decision).toMatchObject({ failed: true, kind, ...(message === undefined ? {} : { message }) });
    },
    thenTakes: (...claims: Claim[]) => expect(identities(accepted().claim)).toEqual(claims),
    thenReleases: (...claims: Claim[]) => expect(identities(accepted().release)).toEqual(claims),
    thenForgets: (...secrets: SecretRef[]) => expect(accepted().forget).toEqual(secrets),
    result: () => accepted().result,
  };
}

/** An event as a projection gets it; the n-th of a test is at position n. */
export const inEnvelope = <E extends DomainEvent>(
  event: E,
  n: number,
  over: Partial<Envelope> = {},
): RecordedEvent<E> => ({
  ...event,
  tenantId: TENANT,
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  stream: 'test',
  revision: BigInt(n - 1),
  position: BigInt(n),
  recordedAt: NOW + n * 1_000,
  metadata: {
    actor: { kind: 'admin', id: '22222222-2222-4222-8222-222222222222' },
    correlationId: '33333333-3333-4333-8333-333333333333',
    causationId: '33333333-3333-4333-8333-333333333333',
    commandId: '33333333-3333-4333-8333-333333333333',
  },
  stored: { version: 1, data: event.data },
  ...over,
});

/** An event that a read model or a reaction gets, by its families. */
export type EventFor<Reader extends { readonly families: readonly EventFamily[] }> = RecordedEvent<
  EventOf<Reader['families'][number]>
>;

/** The rows of a read model after these events, folded in batches of any size: the result must not depend on it. */
export function rowsAfter<Model extends AnyReadModel>(
  model: Model,
  events: readonly EventFor<Model>[],
  batchSize = events.length || 1,
): Record<string, unknown>[] {
  const work = new WorkingSet(model.key as string[]);
  const on = model.on as Record<string, ((event: RecordedEvent) => RowStep | RowStep[]) | undefined>;
  for (let from = 0; from < events.length; from += batchSize) {
    const batch = events
      .slice(from, from + batchSize)
      .filter(({ type }) => on[type])
      .map((event) => ({ event, steps: [on[event.type]!(event)].flat() }));
    work.admit(work.missing(batch), []);
    const [poison] = work.fold(batch);
    if (poison) throw poison.error;
    work.purged.length = 0;
  }
  return work.changes().upserts.map(({ key, row }) => ({ ...row, ...key }));
}
