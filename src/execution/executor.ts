import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../kernel/actor.ts';
import type { Claim, Command, CommandContext, Decision } from '../kernel/command.ts';
import type { DomainEvent, EventMetadata, Position } from '../kernel/event.ts';
import { conflict, isFailure, unavailable, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import { EventStoreUnavailable, type ClaimKey, type EventStore } from '../eventstore/port.ts';
import type { AggregateLoader, Loaded } from './aggregate-loader.ts';
import { Turns } from './turns.ts';
import type { Workbench } from './workbench.ts';

/** On whose behalf a command runs, and what led to it. */
export interface Issuer {
  readonly tenantId: TenantId;
  readonly actor: Actor;
  readonly correlationId?: string;
  readonly causationId?: string;
  /** Given for commands that a reaction issues: the same effect has the same id however often it is repeated. */
  readonly commandId?: string;
}

export interface Executed<Result> {
  readonly result: Result;
  readonly events: readonly DomainEvent[];
  /** Where the last event stands in the feed; undefined when nothing had to change. */
  readonly position: Position | undefined;
  readonly revision: bigint;
}

const TRIES = 12;

type Outcome<Result> = Executed<Result> | Failure | 'lostRace' | 'lostClaim';

/**
 * Loads, folds, decides, appends with the revision that was decided on; after a conflict it does all of that again
 * (yesterday's decision is never pushed), a few times and jittered. The first decision may be on what is remembered of the
 * stream: an append proves that it was current, and anything else is decided again once the store was asked.
 */
export class Executor<Ports> {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  readonly #loader: AggregateLoader;
  readonly #digest: (value: string) => string;
  readonly #newWorkbench: () => Workbench<Ports>;
  readonly #turns = new Turns();

  constructor(store: EventStore, codec: EventCodec, loader: AggregateLoader, claimDigest: (value: string) => string, newWorkbench: () => Workbench<Ports>) {
    this.#store = store;
    this.#codec = codec;
    this.#loader = loader;
    this.#digest = claimDigest;
    this.#newWorkbench = newWorkbench;
  }

  async execute<Input, State, E extends DomainEvent, Needs, Facts, Result>(
    command: Command<Input, State, E, Needs, Facts, Result>,
    input: Input,
    issuer: Issuer,
    // A command only runs where every port that its preparation needs is there.
    ...[]: Ports extends Needs ? [] : [missing: Needs]
  ): Promise<Executed<Result> | Failure> {
    const context = contextOf(issuer);
    let workbench = this.#newWorkbench();
    const prepare = async () => command.prepare && (await command.prepare(input, workbench.ports as unknown as Needs, context));
    const stream = command.stream(input, context);
    try {
      let facts = await prepare();
      for (let attempt = 1; attempt <= TRIES; attempt += 1) {
        if (isFailure(facts)) return await afterUndoing(workbench, facts);
        const settled = facts as Facts;
        const decide = (on: Loaded<State>) => this.#decide(command, input, context, settled, stream, on);
        const outcome = await this.#turns.take(stream, () => (attempt === 1 ? this.#decideFirst(command, stream, decide) : this.#load(command, stream).then(decide)));
        if (isFailure(outcome)) return await afterUndoing(workbench, outcome);
        if (outcome !== 'lostRace' && outcome !== 'lostClaim') return outcome.position === undefined ? await afterUndoing(workbench, outcome) : outcome;
        await sleep(Math.random() * 2 ** Math.min(attempt, 6));
        if (outcome === 'lostRace') continue;
        workbench = await afterUndoing(workbench, this.#newWorkbench());
        facts = await prepare();
      }
      return await afterUndoing(workbench, unavailable('too many changes at once, try again'));
    } catch (error) {
      if (error instanceof EventStoreUnavailable) return unavailable();
      throw error;
    }
  }

  /** The stream that holds a claim now. */
  claimHolder(tenantId: TenantId, claim: Claim): Promise<string | undefined> {
    return this.#store.claimHolder(this.#claimKey(tenantId, claim));
  }

  async #decideFirst<State, E extends DomainEvent, Result>(
    command: Pick<Command<never, State, E, never, never, Result>, 'aggregate' | 'tail' | 'begins'>,
    stream: string,
    decide: (on: Loaded<State>) => Promise<Outcome<Result>>,
  ): Promise<Outcome<Result>> {
    const assumed = command.begins ? { state: command.aggregate.initial, revision: -1n } : this.#loader.remembered(command.aggregate, stream);
    const outcome = assumed && (await decide(assumed));
    if (outcome && isAppended(outcome)) return outcome;
    const loaded = await this.#load(command, stream);
    const stands = outcome !== undefined && outcome !== 'lostRace' && loaded.revision === assumed?.revision;
    return stands ? outcome : decide(loaded);
  }

  async #decide<Input, State, E extends DomainEvent, Needs, Facts, Result>(
    command: Command<Input, State, E, Needs, Facts, Result>,
    input: Input,
    context: CommandContext,
    facts: Facts,
    stream: string,
    loaded: Loaded<State>,
  ): Promise<Outcome<Result>> {
    const decision = command.decide(loaded.state, input, context, facts);
    if (isFailure(decision)) return decision;
    if (decision.events.length === 0) {
      return { result: decision.result, events: [], position: undefined, revision: loaded.revision };
    }
    const verdict = await this.#append(decision, context, stream, loaded);
    if (verdict.kind === 'wrongRevision') return 'lostRace';
    if (verdict.kind === 'claimed') {
      const lost = decision.take.find((claim) => this.#claimKey(context.tenantId, claim).digest === verdict.claim.digest);
      const answer = command.whenClaimed?.(lost!) ?? conflict();
      return answer === 'prepareAgain' ? 'lostClaim' : answer;
    }
    this.#loader.advance(command.aggregate, stream, loaded, decision.events, verdict.revision);
    return { result: decision.result, events: decision.events, position: verdict.position, revision: verdict.revision };
  }

  #load<State, E extends DomainEvent>({ aggregate, tail }: Pick<Command<never, State, E, never, never, unknown>, 'aggregate' | 'tail'>, stream: string): Promise<Loaded<State>> {
    return tail === undefined ? this.#loader.loadWithRevision(aggregate, stream) : this.#loader.followTail(aggregate, stream, tail);
  }

  async #append<E extends DomainEvent, Result>(
    decision: Decision<E, Result>,
    context: CommandContext,
    stream: string,
    { revision }: Loaded<unknown>,
  ) {
    const { tenantId } = context;
    const metadata: EventMetadata = {
      actor: context.actor,
      correlationId: context.correlationId,
      causationId: context.causationId,
      commandId: context.id,
    };
    const events = await Promise.all(
      decision.events.map((event, at) => this.#codec.encode(derivedId(context.id, at), tenantId, event, metadata)),
    );
    const keys = (claims: readonly Claim[]) => claims.map((claim) => this.#claimKey(tenantId, claim));
    return this.#store.append({
      tenantId,
      stream,
      expectedRevision: revision,
      events,
      take: keys(decision.take),
      release: keys(decision.release),
    });
  }

  #claimKey(tenantId: TenantId, { kind, value, tenantId: owner = tenantId }: Claim): ClaimKey {
    return { tenantId: owner, kind, digest: this.#digest(`${owner}|${kind}|${value}`) };
  }
}

const isAppended = (outcome: Outcome<unknown>): boolean => typeof outcome === 'object' && !isFailure(outcome) && outcome.position !== undefined;

/** What cannot be taken back now does no harm where it lies: the outcome stands all the same. */
async function afterUndoing<Outcome>(workbench: Workbench<unknown>, outcome: Outcome): Promise<Outcome> {
  await workbench.undo().catch(() => undefined);
  return outcome;
}

function contextOf({ tenantId, actor, commandId = randomUUID(), correlationId, causationId }: Issuer): CommandContext {
  return {
    tenantId,
    actor,
    now: Date.now(),
    id: commandId,
    correlationId: correlationId ?? commandId,
    causationId: causationId ?? commandId,
  };
}

/** A UUID (version 8, RFC 9562 §5.8) that is a function of its parts: the n-th event of a command, the n-th effect of an event. */
export function derivedId(...parts: readonly (string | number)[]): string {
  const hex = hash('sha256', parts.join('|'));
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
