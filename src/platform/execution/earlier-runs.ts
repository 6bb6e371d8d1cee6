import type { Command, CommandContext } from '../kernel/command.ts';
import type { DomainEvent, Position, RecordedEvent } from '../kernel/event.ts';
import { isFailure } from '../kernel/failure.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { AggregateLoader } from './aggregate-loader.ts';
import type { ExecutionResult } from './execution-result.ts';
import { findOwnAppend } from './own-append.ts';

interface EarlierRun<Result> extends ExecutionResult<Result> {
  readonly isEarlier: true;
}

/** What commands appended before, in runs whose callers may not have learned of it. */
export class EarlierRuns {
  readonly #store: EventStore;
  readonly #codec: EventCodec;
  readonly #loader: AggregateLoader;

  constructor(store: EventStore, codec: EventCodec, loader: AggregateLoader) {
    this.#store = store;
    this.#codec = codec;
    this.#loader = loader;
  }

  /** True if an earlier run of this command id has appended to the stream, behind this position. */
  async haveAppended(stream: string, commandId: string, behind: Position): Promise<boolean> {
    return (await findOwnAppend(this.#store, stream, commandId, behind)).length > 0;
  }

  /**
   * Rebuilds the outcome of an earlier run from its events, with the result of its decision. Returns undefined if no
   * run of this command id appended anything.
   */
  async find<Input, State, E extends DomainEvent, Ports, Facts, Result>(
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
}

export const isEarlier = (outcome: ExecutionResult<unknown>): boolean => 'isEarlier' in outcome;

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
