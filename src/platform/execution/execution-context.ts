import { randomUUID } from 'node:crypto';
import type { Actor } from '../kernel/actor.ts';
import type { CommandContext } from '../kernel/command.ts';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';

/** How a repeated effect is recognized, whatever was appended since its first run. */
export interface Repetition {
  /**
   * An earlier run of this `commandId` may have appended. Asked after the state was loaded: a false answer means that no
   * event of such a run is in that state. Only after a true one is the stream searched.
   */
  readonly mayHaveRun: () => boolean;
  /** An earlier run appended behind this position: that of the event which asks for the command. */
  readonly behind: Position;
}

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
  /** Set for commands that a reaction issues. `isRetryable` is not needed beside it: such a command has no result. */
  readonly repetition?: Repetition;
  /** The command runs only if its state has one of these tags. */
  readonly ifMatch?: readonly string[] | undefined;
  /** A moment of `performance.now()` at which the caller gives up, and says so: the command appends nothing from then on. */
  readonly until?: number | undefined;
}

/** Whether the caller has given up. */
export const isGivenUp = (until: number | undefined): boolean => until !== undefined && performance.now() >= until;

/** For whom a command runs many times: each run has an id of its own. */
export type BulkExecutionContext = Omit<ExecutionContext, 'commandId' | 'repetition' | 'ifMatch'>;

/** The context as `decide` gets it: time and ids are fixed here, once for all attempts. */
export function contextOf({
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
