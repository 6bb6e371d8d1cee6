import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../kernel/actor.ts';
import { duplicateOf, type Claim, type Command, type CommandContext, type Decision } from '../kernel/command.ts';
import type { DomainEvent, EventMetadata, Position, RecordedEvent } from '../kernel/event.ts';
import { temporarilyUnavailable, isFailure, type Failure } from '../kernel/failure.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import { EventStoreUnavailable, type ClaimKey, type EventStore, type NewEvent } from '../eventstore/port.ts';
import type { AggregateLoader, LoadedAggregate } from './aggregate-loader.ts';
import { onlyIfUnchanged } from './entity-tags.ts';
import { findOwnAppend } from './own-append.ts';
import { noSecrets, type SecretDisposal } from './secret-disposal.ts';
import { inSpan } from '../observability/tracing.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** For whom a command runs, and what caused it. */
export interface ExecutionContext {
  readonly tenantId: TenantId;
  readonly actor: Actor;
  readonly correlationId?: string;
  readonly causationId?: string;
  /** Set for commands that a reaction issues: a repeated effect has the same id. */
  readonly commandId?: string;
  /**
   * An earlier run of this `commandId` may have appended without its caller learning of it. The stream is therefore
   * searched before anything is decided, and events found there are the outcome.
   */
  readonly isRetryable?: boolean;
  /** The command runs only if its state has one of these tags. */
  readonly ifMatch?: readonly string[] | undefined;
}

export interface ExecutionResult<Result> {
  readonly result: Result;
  readonly events: readonly DomainEvent[];
  /** Position of the last event in the log; undefined when nothing had to change. */
  readonly position: Position | undefined;
  readonly revision: bigint;
  /**
   * When the events were recorded, in epoch milliseconds, as every reader of the log sees it. May read the last event.
   * Returns the time of the decision when nothing had to change or the event cannot be read now.
   */
  readonly recordedAt: () => Promise<number>;
  /**
   * The events as read models get them, for a response that shows a new record before the read side has it. All have the
   * position of the last one.
   */
  readonly recorded: () => Promise<readonly RecordedEvent[]>;
}

const TRIES = 12;

interface EarlierRun<Result> extends ExecutionResult<Result> {
  readonly isEarlier: true;
}

type Outcome<Result> = ExecutionResult<Result> | Failure | 'lostRace' | 'lostClaim';

/**
 * Loads, folds, decides, and appends with the revision that was decided on. After a conflict it starts again from
 * loading, up to `TRIES` times, with jitter. The first decision may use the cached state: a successful append proves
 * that the state was current. Any other outcome is decided again on the state from the store.
 */
export class Executor<Ports> {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  readonly #loader: AggregateLoader;
  readonly #digest: (value: string) => string;
  readonly #newUnitOfWork: () => UnitOfWork<Ports>;
  readonly #disposal: SecretDisposal;
  readonly #mutex = new KeyedMutex();

  constructor(
    store: EventStore,
    codec: EventCodec,
    loader: AggregateLoader,
    claimDigest: (value: string) => string,
    newUnitOfWork: () => UnitOfWork<Ports>,
    disposal: SecretDisposal = noSecrets,
  ) {
    this.#store = store;
    this.#codec = codec;
    this.#loader = loader;
    this.#digest = claimDigest;
    this.#newUnitOfWork = newUnitOfWork;
    this.#disposal = disposal;
  }

  async execute<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    execution: ExecutionContext,
  ): Promise<ExecutionResult<Result> | Failure> {
    const context = contextOf(execution);
    try {
      return await inSpan(command.name, { 'castellan.kind': 'command' }, async () => {
        const earlier = execution.isRetryable ? await this.#earlierRun(command, input, context) : undefined;
        const guarded = execution.ifMatch ? onlyIfUnchanged(command, execution.ifMatch) : command;
        return earlier ?? this.#run(guarded, input, context, execution.isRetryable === true);
      });
    } catch (error) {
      if (error instanceof EventStoreUnavailable) return temporarilyUnavailable();
      throw error;
    }
  }

  /** Returns the outcome of an earlier run of a retryable command, or undefined if it appended nothing. */
  async recall<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    issuer: ExecutionContext,
  ): Promise<ExecutionResult<Result> | undefined> {
    return this.#earlierRun(command, input, contextOf(issuer));
  }

  /**
   * Decides without appending: the failure that the command would have now. For a request with several commands, which
   * are all checked before the first one appends.
   */
  async refusalOf<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    execution: ExecutionContext,
  ): Promise<Failure | undefined> {
    const context = contextOf(execution);
    const unitOfWork = this.#newUnitOfWork();
    try {
      const facts = command.prepare && (await command.prepare(input, unitOfWork.ports, context));
      if (isFailure(facts)) return facts;
      const { state } = await this.#load(command, command.stream(input, context));
      const decision = command.decide(state, input, context, facts as Facts);
      return isFailure(decision) ? decision : undefined;
    } finally {
      await unitOfWork.compensate().catch(() => undefined);
    }
  }

  async #run<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    context: CommandContext,
    isRetryable: boolean,
  ): Promise<ExecutionResult<Result> | Failure> {
    let unitOfWork = this.#newUnitOfWork();
    const prepare = async () => {
      try {
        return command.prepare && (await command.prepare(input, unitOfWork.ports, context));
      } catch (error) {
        // Nothing was appended that refers to the secrets of this preparation.
        await unitOfWork.compensate().catch(() => undefined);
        throw error;
      }
    };
    const stream = command.stream(input, context);
    // A retryable command may be running twice. An append proves only that the state was current, so the state must not
    // contain events of the other run: load the state first, then search it for them.
    const decideAfterSearch = async (
      decide: (on: LoadedAggregate<State>) => Promise<Outcome<Result>>,
    ): Promise<Outcome<Result>> => {
      const loaded = await this.#load(command, stream);
      return (await this.#earlierRun(command, input, context)) ?? decide(loaded);
    };
    let facts = await prepare();
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      if (isFailure(facts))
        return await afterCompensation(
          unitOfWork,
          (isRetryable && (await this.#earlierRun(command, input, context))) || facts,
        );
      const settled = facts as Facts;
      if (command.isNeedless?.(settled))
        return await afterCompensation(unitOfWork, nothingDone(context, undefined as Result, -1n));
      const decide = (on: LoadedAggregate<State>) => this.#decide(command, input, context, settled, stream, on);
      const decideNow = () =>
        attempt === 1 ? this.#decideFirst(command, stream, decide) : this.#load(command, stream).then(decide);
      const outcome = await this.#mutex.run(stream, () => (isRetryable ? decideAfterSearch(decide) : decideNow()));
      if (isFailure(outcome)) return await afterCompensation(unitOfWork, outcome);
      if (outcome !== 'lostRace' && outcome !== 'lostClaim')
        return outcome.position === undefined || isEarlier(outcome)
          ? await afterCompensation(unitOfWork, outcome)
          : outcome;
      await sleep(Math.random() * 2 ** Math.min(attempt, 6));
      if (outcome === 'lostRace') continue;
      unitOfWork = await afterCompensation(unitOfWork, this.#newUnitOfWork());
      facts = await prepare();
    }
    return afterCompensation(unitOfWork, temporarilyUnavailable('too_many_changes'));
  }

  /** Rebuilds the outcome of an earlier run from its events, with the result of its decision. */
  async #earlierRun<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    context: CommandContext,
  ): Promise<EarlierRun<Result> | undefined> {
    const stream = command.stream(input, context);
    const found = await findOwnAppend(this.#store, stream, context.id);
    const [first] = found;
    const last = found.at(-1);
    if (!first || !last) return undefined;
    const events = (await this.#codec.decode(found)) as unknown as E[];
    const at = { ...context, now: first.recordedAt };
    const before = () => this.#loader.loadBefore(command.aggregate, stream, first.revision);
    const result = await resultOf(command, input, at, events, before);
    return {
      result,
      events,
      position: last.position,
      revision: last.revision,
      recordedAt: async () => last.recordedAt,
      recorded: async () => events as unknown as RecordedEvent[],
      isEarlier: true,
    };
  }

  /** Returns the stream that holds a claim now. */
  claimHolder(tenantId: TenantId, claim: Claim): Promise<string | undefined> {
    return this.#store.claimHolder(this.#claimKey(tenantId, claim));
  }

  /** Like `claimHolder`, for many claims. Results are in input order. */
  claimHolders(tenantId: TenantId, claims: readonly Claim[]): Promise<readonly (string | undefined)[]> {
    return this.#store.claimHolders(claims.map((claim) => this.#claimKey(tenantId, claim)));
  }

  async #decideFirst<State, E extends DomainEvent, Result>(
    command: Pick<Command<never, State, E, never, never, Result>, 'aggregate' | 'tail' | 'begins'>,
    stream: string,
    decide: (on: LoadedAggregate<State>) => Promise<Outcome<Result>>,
  ): Promise<Outcome<Result>> {
    // Gain: `npm run bench -- without remembered-decisions resolve-32`: 1.35 (95 %: 1.19 to 1.41).
    const assumed = command.begins
      ? { state: command.aggregate.initial, revision: -1n }
      : this.#loader.cached(command.aggregate, stream);
    const outcome = assumed && (await decide(assumed));
    if (outcome && isAppended(outcome)) return outcome;
    const loaded = await this.#load(command, stream);
    const isCurrent = outcome !== undefined && outcome !== 'lostRace' && loaded.revision === assumed?.revision;
    return isCurrent ? outcome : decide(loaded);
  }

  async #decide<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    context: CommandContext,
    facts: Facts,
    stream: string,
    loaded: LoadedAggregate<State>,
  ): Promise<Outcome<Result>> {
    const decision = command.decide(loaded.state, input, context, facts);
    if (isFailure(decision)) return decision;
    if (decision.events.length === 0) return nothingDone(context, decision.result, loaded.revision);
    const givenUp = decision.forget.length > 0 && {
      tenantId: context.tenantId,
      stream,
      expectedRevision: loaded.revision,
      commandId: context.id,
      secrets: decision.forget,
    };
    if (givenUp) await this.#disposal.plan(givenUp);
    const encoded = await this.#encode(decision.events, context);
    const verdict = await this.#append(decision, encoded, context, stream, loaded);
    if (verdict.kind === 'wrongRevision') return 'lostRace';
    if (verdict.kind === 'claimed') {
      const lost = decision.claim.find(
        (claim) => this.#claimKey(context.tenantId, claim).digest === verdict.claim.digest,
      );
      const answer = command.whenClaimed?.(lost!) ?? duplicateOf(lost!);
      return answer === 'prepareAgain' ? 'lostClaim' : answer;
    }
    this.#loader.advance(command.aggregate, stream, loaded, decision.events, verdict.revision);
    if (givenUp) await this.#disposal.carryOut(givenUp);
    const { position, revision } = verdict;
    const recordedAt = async () => verdict.recordedAt ?? (await this.#timeAt(stream, revision)) ?? context.now;
    const recorded = async () => {
      const at = await recordedAt();
      return encoded.map(({ id, version, data, metadata }, index) => ({
        ...decision.events[index]!,
        tenantId: context.tenantId,
        id,
        stream,
        position,
        recordedAt: at,
        metadata,
        stored: { version, data },
        revision: revision - BigInt(encoded.length - 1 - index),
      }));
    };
    return { result: decision.result, events: decision.events, position, revision, recordedAt, recorded };
  }

  /** Never throws: the command has succeeded even if the store cannot be read now. */
  async #timeAt(stream: string, revision: bigint): Promise<number | undefined> {
    const [there] = await this.#store.readStream(stream, { from: revision, limit: 1 }).catch(() => []);
    return there?.revision === revision ? there.recordedAt : undefined;
  }

  #load<State, E extends DomainEvent>(
    { aggregate, tail }: Pick<Command<never, State, E, never, never, unknown>, 'aggregate' | 'tail'>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    return tail === undefined
      ? this.#loader.loadWithRevision(aggregate, stream)
      : this.#loader.followTail(aggregate, stream, tail);
  }

  #encode(events: readonly DomainEvent[], context: CommandContext): Promise<NewEvent[]> {
    const metadata: EventMetadata = {
      actor: context.actor,
      correlationId: context.correlationId,
      causationId: context.causationId,
      commandId: context.id,
    };
    return Promise.all(
      events.map((event, at) => this.#codec.encode(derivedId(context.id, at), context.tenantId, event, metadata)),
    );
  }

  async #append<E extends DomainEvent, Result>(
    decision: Decision<E, Result>,
    events: readonly NewEvent[],
    { tenantId }: CommandContext,
    stream: string,
    { revision }: LoadedAggregate<unknown>,
  ) {
    const keys = (claims: readonly Claim[]) => claims.map((claim) => this.#claimKey(tenantId, claim));
    return this.#store.append({
      tenantId,
      stream,
      expectedRevision: revision,
      events,
      claim: keys(decision.claim),
      release: keys(decision.release),
    });
  }

  #claimKey(tenantId: TenantId, { kind, value, tenantId: owner = tenantId }: Claim): ClaimKey {
    return { tenantId: owner, kind, digest: this.#digest(`${owner}|${kind}|${value}`) };
  }
}

const isEarlier = (outcome: ExecutionResult<unknown>): boolean => 'isEarlier' in outcome;

/**
 * `recall` reads the result from the events. A command without `prepare` needs no `recall`: its pure decision is made
 * again, on the same state. A command with `prepare` and without `recall` has no result.
 */
async function resultOf<Input, State, E extends DomainEvent, Ports, Facts, Result>(
  { recall, prepare, decide }: Command<Input, State, E, Ports, Facts, Result>,
  input: Input,
  context: CommandContext,
  events: readonly E[],
  before: () => Promise<State>,
): Promise<Result> {
  if (recall) return recall(await before(), events, input, context);
  if (prepare) return undefined as Result;
  const decision = decide(await before(), input, context, undefined as Facts);
  if (isFailure(decision))
    throw new TypeError(`an earlier run appended events that its decision now refuses: ${decision.message}`);
  return decision.result;
}

const isAppended = (outcome: Outcome<unknown>): boolean =>
  typeof outcome === 'object' && !isFailure(outcome) && outcome.position !== undefined;

/** The outcome of a command that appended nothing. */
const nothingDone = <Result>({ now }: CommandContext, result: Result, revision: bigint): ExecutionResult<Result> => ({
  result,
  events: [],
  position: undefined,
  revision,
  recordedAt: async () => now,
  recorded: async () => [],
});

/** Ignores errors of the compensation: leftover secrets do no harm, and the outcome is valid anyway. */
async function afterCompensation<Outcome>(unitOfWork: UnitOfWork<unknown>, outcome: Outcome): Promise<Outcome> {
  await unitOfWork.compensate().catch(() => undefined);
  return outcome;
}

function contextOf({
  tenantId,
  actor,
  commandId = randomUUID(),
  correlationId,
  causationId,
}: ExecutionContext): CommandContext {
  return {
    tenantId,
    actor,
    now: Date.now(),
    id: commandId,
    correlationId: correlationId ?? commandId,
    causationId: causationId ?? commandId,
  };
}

/**
 * Returns a UUID (version 8, RFC 9562 §5.8) derived from its parts, e.g. for the n-th event of a command or the n-th
 * effect of an event.
 */
export function derivedId(...parts: readonly (string | number)[]): string {
  const hex = hash('sha256', parts.join('|'));
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
