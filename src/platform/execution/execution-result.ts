import type { DomainEvent, Position, RecordedEvent } from '../kernel/event.ts';
import { isFailure, type Failure } from '../kernel/failure.ts';

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
   * The events as read models get them, for a response that shows a new record before the read side has it. All have
   * the position of the last one.
   */
  readonly recorded: () => Promise<readonly RecordedEvent[]>;
}

/**
 * What one attempt ended with. `lostRace`: the stream has a newer revision. `lostClaim`: another record holds a claim,
 * and a new preparation may find another value.
 */
export type ExecutionOutcome<Result> = ExecutionResult<Result> | Failure | 'lostRace' | 'lostClaim';

export const isAppended = (outcome: ExecutionOutcome<unknown>): boolean =>
  typeof outcome === 'object' && !isFailure(outcome) && outcome.position !== undefined;

/** The result of a command that appended nothing. */
export const unchanged = <Result>(result: Result, revision: bigint, now: number): ExecutionResult<Result> => ({
  result,
  events: [],
  position: undefined,
  revision,
  recordedAt: async () => now,
  recorded: async () => [],
});
