import { setTimeout as sleep } from 'node:timers/promises';
import type { BulkCommand, Claim, Command, CommandContext } from '../kernel/command.ts';
import type { DomainEvent } from '../kernel/event.ts';
import { temporarilyUnavailable, isFailure, type Failure } from '../kernel/failure.ts';
import { noReferenceLocks, type ReferenceLocks } from '../kernel/reference-locks.ts';
import type { TenantId } from '../kernel/ids.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { LogTrust } from '../eventstore/log-trust.ts';
import { EventStoreUnavailable, type EventStore } from '../eventstore/port.ts';
import type { AggregateLoader, LoadedAggregate } from './aggregate-loader.ts';
import { Attempts, type BegunOutcome, type PreparedCommand } from './attempts.ts';
import { ClaimKeys } from './claim-keys.ts';
import { EarlierRuns, isEarlier } from './earlier-runs.ts';
import { onlyIfUnchanged } from './entity-tags.ts';
import { contextOf, type BulkExecutionContext, type ExecutionContext } from './execution-context.ts';
import { unchanged, type ExecutionResult, type ExecutionOutcome } from './execution-result.ts';
import { noSecrets, type SecretDisposal } from './secret-disposal.ts';
import { inSpan } from '../observability/tracing.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { afterCompensation, prepare } from './preparation.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** What the executor has to know of an execution that may not be the first of its command id. */
type RepeatableExecution = Pick<ExecutionContext, 'isRetryable' | 'repetition' | 'until'>;

const TRIES = 12;
/** Of the inputs of one `executeAll`, how many that did not get through together are executed at the same time. */
const ALONE_AT_ONCE = 64;

/** What an installation with other processes, or with a log that may be replaced, needs besides. */
export interface ExecutorSafeguards {
  readonly trust?: Pick<LogTrust, 'epoch' | 'vouchFor'>;
  readonly locks?: ReferenceLocks;
}

/**
 * Loads, folds, decides, and appends with the revision that was decided on. After a conflict it starts again from
 * loading, up to `TRIES` times, with jitter.
 */
export class Executor<Ports> {
  readonly #store: EventStore;
  readonly #claimKeys: ClaimKeys;
  readonly #attempts: Attempts<Ports>;
  readonly #earlierRuns: EarlierRuns;
  readonly #newUnitOfWork: () => UnitOfWork<Ports>;
  readonly #trust: Pick<LogTrust, 'epoch' | 'vouchFor'> | undefined;
  readonly #locks: ReferenceLocks;
  readonly #mutex = new KeyedMutex();

  constructor(
    store: EventStore,
    codec: EventCodec,
    loader: AggregateLoader,
    claimDigest: (value: string) => string,
    newUnitOfWork: () => UnitOfWork<Ports>,
    disposal: SecretDisposal = noSecrets,
    { trust, locks = noReferenceLocks }: ExecutorSafeguards = {},
  ) {
    this.#store = store;
    this.#claimKeys = new ClaimKeys(claimDigest);
    this.#attempts = new Attempts(store, codec, loader, this.#claimKeys, disposal);
    this.#earlierRuns = new EarlierRuns(store, codec, loader);
    this.#newUnitOfWork = newUnitOfWork;
    this.#trust = trust;
    this.#locks = locks;
  }

  async execute<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    execution: ExecutionContext,
  ): Promise<ExecutionResult<Result> | Failure> {
    try {
      for (let attempt = 1; attempt <= TRIES; attempt += 1) {
        const epoch = this.#trust?.epoch;
        const outcome = await this.#decided(command, input, execution);
        if (epoch === undefined) return outcome;
        await this.#trust!.vouchFor(epoch);
        // What was decided on a log that came into doubt meanwhile is no decision, even if no check saw another log: a refusal,
        // or nothing to do.
        if (this.#trust!.epoch === epoch || hasAppended(outcome)) return outcome;
      }
      return temporarilyUnavailable();
    } catch (error) {
      if (error instanceof EventStoreUnavailable) return temporarilyUnavailable();
      throw error;
    }
  }

  async #decided<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    execution: ExecutionContext,
  ): Promise<ExecutionResult<Result> | Failure> {
    const context = contextOf(execution);
    return inSpan(command.name, { 'castellan.kind': 'command' }, async () => {
      const earlier = execution.isRetryable ? await this.#earlierRuns.find(command, input, context) : undefined;
      const guarded = execution.ifMatch ? onlyIfUnchanged(command, execution.ifMatch) : command;
      const run = () => this.#run(guarded, input, context, execution);
      const named = command.names?.(input) ?? [];
      return earlier ?? (named.length === 0 ? run() : this.#locks.naming(context.tenantId, named, run));
    });
  }

  /**
   * Executes a command for many inputs that create records, and returns their outcomes in order, as `execute` would.
   * All are prepared, decided, encoded and appended together, and nothing is read for each. Whoever does not get
   * through (a claim that somebody has, a stream that exists) is executed alone, at most `ALONE_AT_ONCE` at a time.
   */
  async executeAll<Input, State, E extends DomainEvent, Facts, Result>(
    command: BulkCommand<Input, State, E, Ports, Facts, Result>,
    inputs: readonly Input[],
    execution: BulkExecutionContext,
    commandIdOf?: (input: Input) => string,
  ): Promise<readonly (ExecutionResult<Result> | Failure)[]> {
    const executions = inputs.map((input) => ({ ...execution, ...(commandIdOf && { commandId: commandIdOf(input) }) }));
    const begun = await inSpan(command.name, { 'castellan.kind': 'command', 'castellan.inputs': inputs.length }, () =>
      this.#begin(command, inputs, executions),
    );
    const outcomes = begun.map((outcome) => (outcome === 'unknown' ? temporarilyUnavailable() : outcome!));
    const alone = begun.flatMap((outcome, at) => (outcome === undefined ? [at] : []));
    await inParallel(ALONE_AT_ONCE, alone, async (at) => {
      outcomes[at] = await this.execute(command, inputs[at]!, executions[at]!);
    });
    return outcomes;
  }

  /** `begins` proves for a retryable command, too, that no earlier run has appended: its events would be in the stream. */
  async #begin<Input, State, E extends DomainEvent, Facts, Result>(
    command: BulkCommand<Input, State, E, Ports, Facts, Result>,
    inputs: readonly Input[],
    executions: readonly ExecutionContext[],
  ): Promise<BegunOutcome<Result>[]> {
    const outcomes = Array.from<BegunOutcome<Result>>({ length: inputs.length });
    if (inputs.length === 0) return outcomes;
    try {
      const facts = await command.prepareAll(inputs, this.#newUnitOfWork().ports, executions[0]!);
      const admitted = inputs.flatMap((input, at) => {
        const own = facts[at]!;
        if (isFailure(own)) return [];
        const context = contextOf(executions[at]!);
        const { until } = executions[at]!;
        return [{ at, command, input, context, facts: own, stream: command.stream(input, context), until }];
      });
      const begun = await this.#attempts.begin(admitted);
      for (const [index, { at }] of admitted.entries()) outcomes[at] = begun[index];
      return outcomes;
    } catch (error) {
      if (error instanceof EventStoreUnavailable) return outcomes.fill('unknown');
      throw error;
    }
  }

  /** Returns the outcome of an earlier run of a retryable command, or undefined if it appended nothing. */
  async recall<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    execution: ExecutionContext,
  ): Promise<ExecutionResult<Result> | undefined> {
    return this.#earlierRuns.find(command, input, contextOf(execution));
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
      const { state } = await this.#attempts.load(command, command.stream(input, context));
      const decision = command.decide(state, input, context, facts as Facts);
      return isFailure(decision) ? decision : undefined;
    } finally {
      await unitOfWork.compensate().catch(() => undefined);
    }
  }

  /** Returns the stream that holds a claim now. */
  claimHolder(tenantId: TenantId, claim: Claim): Promise<string | undefined> {
    return this.#store.claimHolder(this.#claimKeys.of(tenantId, claim));
  }

  /** Like `claimHolder`, for many claims. Results are in input order. */
  claimHolders(tenantId: TenantId, claims: readonly Claim[]): Promise<readonly (string | undefined)[]> {
    return this.#store.claimHolders(claims.map((claim) => this.#claimKeys.of(tenantId, claim)));
  }

  async #run<Input, State, E extends DomainEvent, Facts, Result>(
    command: Command<Input, State, E, Ports, Facts, Result>,
    input: Input,
    context: CommandContext,
    execution: RepeatableExecution,
  ): Promise<ExecutionResult<Result> | Failure> {
    let unitOfWork = this.#newUnitOfWork();
    let facts = await prepare(command, input, context, unitOfWork);
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      if (isFailure(facts)) {
        const earlier = execution.isRetryable ? await this.#earlierRuns.find(command, input, context) : undefined;
        return await afterCompensation(unitOfWork, earlier ?? facts);
      }
      if (command.isNeedless?.(facts as Facts))
        return await afterCompensation(unitOfWork, unchanged(undefined as Result, -1n, context.now));
      const stream = command.stream(input, context);
      const prepared = { command, input, context, facts: facts as Facts, stream, until: execution.until };
      const outcome = await this.#mutex.run(stream, () => this.#attempt(prepared, attempt === 1, execution));
      if (isFailure(outcome)) return await afterCompensation(unitOfWork, outcome);
      if (outcome !== 'lostRace' && outcome !== 'lostClaim')
        return outcome.position === undefined || isEarlier(outcome)
          ? await afterCompensation(unitOfWork, outcome)
          : outcome;
      await sleep(Math.random() * 2 ** Math.min(attempt, 6));
      if (outcome === 'lostRace') continue;
      unitOfWork = await afterCompensation(unitOfWork, this.#newUnitOfWork());
      facts = await prepare(command, input, context, unitOfWork);
    }
    return afterCompensation(unitOfWork, temporarilyUnavailable('too_many_changes'));
  }

  /**
   * A retryable command may be running twice, and so may an effect. An append proves only that the state was current, so
   * the state must not contain events of the other run: the state is loaded first, then searched for them.
   */
  async #attempt<Input, State, E extends DomainEvent, Facts, Result>(
    prepared: PreparedCommand<Input, State, E, Ports, Facts, Result>,
    isFirst: boolean,
    { isRetryable, repetition }: RepeatableExecution,
  ): Promise<ExecutionOutcome<Result>> {
    const { command, input, context, stream } = prepared;
    const earlierThan = async ({ revision }: LoadedAggregate<State>) => {
      if (isRetryable) return this.#earlierRuns.find(command, input, context);
      const isRepeated =
        revision >= 0n &&
        repetition?.mayHaveRun() === true &&
        (await this.#earlierRuns.haveAppended(stream, context.id, repetition.behind));
      return isRepeated ? unchanged(undefined as Result, revision, context.now) : undefined;
    };
    if (isFirst && !isRetryable && repetition?.mayHaveRun() !== true)
      return this.#attempts.first(prepared, earlierThan);
    const loaded = await this.#attempts.load(command, stream);
    return (await earlierThan(loaded)) ?? this.#attempts.on(loaded, prepared);
  }
}

const hasAppended = (outcome: ExecutionResult<unknown> | Failure): boolean =>
  !isFailure(outcome) && outcome.position !== undefined && !isEarlier(outcome);
