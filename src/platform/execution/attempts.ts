import { duplicateOf, type Claim, type Command, type CommandContext, type Decision } from '../kernel/command.ts';
import type { DomainEvent, EventMetadata, RecordedEvent } from '../kernel/event.ts';
import { isFailure, temporarilyUnavailable } from '../kernel/failure.ts';
import type { EventCodec, UnencodedEvent } from '../eventstore/codec.ts';
import { EventContractError, EventTooLarge, InvalidEventText } from '../eventstore/event-contract-error.ts';
import {
  AppendRefused,
  EventStoreUnavailable,
  type Append,
  type AppendResult,
  type EventStore,
  type NewEvent,
} from '../eventstore/port.ts';
import { settled } from '../kernel/in-parallel.ts';
import type { AggregateLoader, LoadedAggregate } from './aggregate-loader.ts';
import type { ClaimKeys } from './claim-keys.ts';
import { derivedId } from './derived-id.ts';
import { isGivenUp } from './execution-context.ts';
import { isAppended, unchanged, type ExecutionResult, type ExecutionOutcome } from './execution-result.ts';
import type { GivenUpSecrets, SecretDisposal } from './secret-disposal.ts';

/** A command with everything that its decision needs besides the state. */
export interface PreparedCommand<Input, State, E extends DomainEvent, Ports, Facts, Result> {
  readonly command: Command<Input, State, E, Ports, Facts, Result>;
  readonly input: Input;
  readonly context: CommandContext;
  readonly facts: Facts;
  readonly stream: string;
  /** See `ExecutionContext`. */
  readonly until: number | undefined;
}

/** Undefined: nothing was appended, and the command has to be executed alone. `unknown`: the store did not say. */
export type BegunOutcome<Result> = ExecutionResult<Result> | 'unknown' | undefined;

type Appended = Extract<AppendResult, { kind: 'appended' }>;

/** Single attempts of commands: decide on a state, append with the revision of that state. */
export class Attempts<Ports> {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  readonly #loader: AggregateLoader;
  readonly #claimKeys: ClaimKeys;
  readonly #disposal: SecretDisposal;

  constructor(
    store: EventStore,
    codec: EventCodec,
    loader: AggregateLoader,
    claimKeys: ClaimKeys,
    disposal: SecretDisposal,
  ) {
    this.#store = store;
    this.#codec = codec;
    this.#loader = loader;
    this.#claimKeys = claimKeys;
    this.#disposal = disposal;
  }

  /** The state of the command's stream, up to date with the store. */
  load<State, E extends DomainEvent>(
    { aggregate, tail }: Pick<Command<never, State, E, never, never, unknown>, 'aggregate' | 'tail'>,
    stream: string,
  ): Promise<LoadedAggregate<State>> {
    return tail === undefined
      ? this.#loader.loadWithRevision(aggregate, stream)
      : this.#loader.followTail(aggregate, stream, tail);
  }

  /**
   * Decides on the cached state, or on the empty one for a stream that begins. A successful append proves that the
   * state was current. Any other outcome is decided again on the state from the store, unless that contains the outcome of
   * an `earlier` run.
   */
  async first<Input, State, E extends DomainEvent, Facts, Result>(
    prepared: PreparedCommand<Input, State, E, Ports, Facts, Result>,
    earlier: (loaded: LoadedAggregate<State>) => Promise<ExecutionResult<Result> | undefined>,
  ): Promise<ExecutionOutcome<Result>> {
    const { command, stream } = prepared;
    // Gain: `npm run bench -- without remembered-decisions resolve-32`: 1.35 (95 %: 1.19 to 1.41).
    const assumed = command.begins
      ? this.#loader.beginning(command.aggregate)
      : this.#loader.cached(command.aggregate, stream);
    const outcome = assumed && (await this.on(assumed, prepared));
    if (outcome && isAppended(outcome)) return outcome;
    const loaded = await this.load(command, stream);
    const isCurrent = outcome !== undefined && outcome !== 'lostRace' && loaded.revision === assumed?.revision;
    return isCurrent ? outcome : ((await earlier(loaded)) ?? this.on(loaded, prepared));
  }

  /** Decides on this state and appends. */
  async on<Input, State, E extends DomainEvent, Facts, Result>(
    loaded: LoadedAggregate<State>,
    { command, input, context, facts, stream, until }: PreparedCommand<Input, State, E, Ports, Facts, Result>,
  ): Promise<ExecutionOutcome<Result>> {
    if (isGivenUp(until)) return temporarilyUnavailable();
    // The revision proves nothing if the state is of another log.
    if (!this.#loader.isCurrent(loaded)) return 'lostRace';
    const decision = command.decide(loaded.state, input, context, facts);
    if (isFailure(decision)) return decision;
    if (decision.events.length === 0) return unchanged(decision.result, loaded.revision, context.now);
    const givenUp = givenUpBy(decision, context, stream, loaded.revision);
    if (givenUp) await this.#disposal.plan(givenUp);
    const encoded = await this.#codec.encodeAll(unencoded(decision.events, context));
    const verdict = await this.#append(decision, encoded, { ...context, stream, until }, loaded.revision);
    if (verdict.kind === 'wrongRevision') return 'lostRace';
    if (verdict.kind === 'claimed') {
      const lost = decision.claim.find(
        (claim) => this.#claimKeys.of(context.tenantId, claim).digest === verdict.claim.digest,
      )!;
      const failure = command.whenClaimed?.(lost) ?? duplicateOf(lost);
      return failure === 'prepareAgain' ? 'lostClaim' : failure;
    }
    this.#loader.advance(command.aggregate, stream, loaded, decision.events, verdict.revision);
    if (givenUp) await this.#disposal.carryOut(givenUp);
    return this.#appended(decision, encoded, context, stream, verdict);
  }

  /**
   * First attempts of commands that begin their streams, together: one look-up for the keys of all persons, and appends
   * that share transactions.
   */
  async begin<Input, State, E extends DomainEvent, Facts, Result>(
    prepared: readonly PreparedCommand<Input, State, E, Ports, Facts, Result>[],
  ): Promise<BegunOutcome<Result>[]> {
    const outcomes = Array.from<BegunOutcome<Result>>({ length: prepared.length });
    const begun = begunBy(prepared);
    const encoded = await this.#encodedTogether(
      begun.flatMap(({ decision, context }) => unencoded(decision.events, context)),
    );
    if (!encoded) return outcomes;
    let next = 0;
    const appending = begun.map(async ({ decision, command, context, stream, at, until }) => {
      const events = encoded.slice(next, (next += decision.events.length));
      const loaded = this.#loader.beginning(command.aggregate);
      try {
        const verdict = await this.#append(decision, events, { ...context, stream, until }, -1n);
        if (verdict.kind !== 'appended') return;
        this.#loader.advance(command.aggregate, stream, loaded, decision.events, verdict.revision);
        outcomes[at] = this.#appended(decision, events, context, stream, verdict);
      } catch (error) {
        if (error instanceof EventStoreUnavailable) outcomes[at] = 'unknown';
        else if (!(error instanceof AppendRefused)) throw error;
      }
    });
    await settled(appending);
    return outcomes;
  }

  /** Undefined if one of them cannot be stored: alone, each is told apart. */
  async #encodedTogether(events: readonly UnencodedEvent[]): Promise<readonly NewEvent[] | undefined> {
    try {
      return await this.#codec.encodeAll(events);
    } catch (error) {
      if (error instanceof EventContractError || error instanceof InvalidEventText || error instanceof EventTooLarge)
        return undefined;
      throw error;
    }
  }

  #appended<E extends DomainEvent, Result>(
    { events, result }: Decision<E, Result>,
    encoded: readonly NewEvent[],
    context: CommandContext,
    stream: string,
    { position, revision, recordedAt: known }: Appended,
  ): ExecutionResult<Result> {
    const recordedAt = async () => known ?? (await this.#timeAt(stream, revision)) ?? context.now;
    const recorded = async (): Promise<RecordedEvent[]> => {
      const time = await recordedAt();
      return encoded.map(({ id, version, data, metadata }, index) => ({
        ...events[index]!,
        tenantId: context.tenantId,
        id,
        stream,
        position,
        recordedAt: time,
        metadata,
        stored: { version, data },
        revision: revision - BigInt(encoded.length - 1 - index),
      }));
    };
    return { result, events, position, revision, recordedAt, recorded };
  }

  /** Never throws: the command has succeeded even if the store cannot be read now. */
  async #timeAt(stream: string, revision: bigint): Promise<number | undefined> {
    const [there] = await this.#store.readStream(stream, { from: revision, limit: 1 }).catch(() => []);
    return there?.revision === revision ? there.recordedAt : undefined;
  }

  #append(
    { claim, release }: Pick<Decision<DomainEvent, unknown>, 'claim' | 'release'>,
    events: readonly NewEvent[],
    { tenantId, stream, until }: Pick<Append, 'stream' | 'until'> & Pick<CommandContext, 'tenantId'>,
    expectedRevision: bigint,
  ): Promise<AppendResult> {
    const keys = (claims: readonly Claim[]) => claims.map((each) => this.#claimKeys.of(tenantId, each));
    return this.#store.append({
      tenantId,
      stream,
      expectedRevision,
      events,
      claim: keys(claim),
      release: keys(release),
      until,
    });
  }
}

/** What can be appended at once: decisions on a new stream that write something, and give up no secret. */
function begunBy<Input, State, E extends DomainEvent, Ports, Facts, Result>(
  prepared: readonly PreparedCommand<Input, State, E, Ports, Facts, Result>[],
) {
  return prepared.flatMap((one, at) => {
    const { command, input, context, facts } = one;
    const decision = command.decide(command.aggregate.initial, input, context, facts);
    const isPlain = !isFailure(decision) && decision.events.length > 0 && decision.forget.length === 0;
    return isPlain ? [{ decision, at, ...one }] : [];
  });
}

function unencoded(events: readonly DomainEvent[], context: CommandContext): UnencodedEvent[] {
  const { actor, correlationId, causationId, id: commandId, tenantId } = context;
  const metadata: EventMetadata = { actor, correlationId, causationId, commandId };
  return events.map((event, index) => ({ id: derivedId(commandId, index), tenantId, event, metadata }));
}

const givenUpBy = (
  { forget }: Pick<Decision<DomainEvent, unknown>, 'forget'>,
  { tenantId, id }: CommandContext,
  stream: string,
  expectedRevision: bigint,
): GivenUpSecrets | undefined =>
  forget.length > 0 ? { tenantId, stream, expectedRevision, commandId: id, secrets: forget } : undefined;
