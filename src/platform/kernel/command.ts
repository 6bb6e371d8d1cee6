import type { Actor } from './actor.ts';
import type { Aggregate } from './aggregate.ts';
import type { DomainEvent } from './event.ts';
import { alreadyExists, type Failure } from './failure.ts';
import type { TenantId } from './ids.ts';
import type { ReadModelName } from './read-model-name.ts';

/**
 * A value that may have one owner at a time within a tenant: an e-mail, a userName, an open alert's fingerprint, an
 * enrollment token's single use. The store keeps a keyed digest of `value`, never the value.
 */
export interface Claim {
  readonly kind: string;
  readonly value: string;
  /** The owner, if it is not the stream's tenant (`INSTALLATION` for "set-up is complete"). */
  readonly tenantId?: TenantId;
  /** The fields of the input that make up the value. The failure of a lost claim names them. */
  readonly fields?: readonly string[];
}

/** The failure of a claim that another record holds. */
export const duplicateOf = ({ fields = [] }: Claim): Failure => alreadyExists(...fields);

/** The id of a secret in the vault, as events and states store it. */
export type SecretRef = string;

/**
 * What `decide` returns: events, the claims that the same append claims or releases, and the secrets that the events
 * give up.
 */
export interface Decision<E extends DomainEvent, Result = void> {
  readonly events: readonly E[];
  readonly claim: readonly Claim[];
  readonly release: readonly Claim[];
  /** Secrets that the events give up. The executor destroys them once the events are appended. */
  readonly forget: readonly SecretRef[];
  readonly result: Result;
}

export interface Claims {
  readonly claim?: readonly Claim[];
  readonly release?: readonly Claim[];
}

export interface Consequences extends Claims {
  /** References from the previous state; null or undefined where there was none. */
  readonly forget?: readonly (SecretRef | null | undefined)[];
}

/** The previous secret for `forget`, or an empty list if the secret did not change. */
export const replacedSecret = <Ref extends SecretRef | null | undefined>(before: Ref, after: Ref): Ref[] =>
  before === after ? [] : [before];

/** Accepts a command with its events, claims and secrets to destroy. No events: the state is already as requested. */
export const accept = <E extends DomainEvent>(
  events: readonly E[],
  { claim = [], release = [], forget = [] }: Consequences = {},
): Decision<E> => ({
  events,
  claim,
  release,
  forget: forget.filter((secret) => typeof secret === 'string'),
  result: undefined,
});

/** Like `accept`, with a result for the caller that no event may hold (a token shown once). */
export const acceptWith = <E extends DomainEvent, Result>(
  result: Result,
  events: readonly E[],
  consequences: Consequences = {},
): Decision<E, Result> => ({ ...accept(events, consequences), result });

/** Everything a decision may use besides state and input. Ids and time are passed in, so that `decide` is pure. */
export interface CommandContext {
  readonly tenantId: TenantId;
  readonly actor: Actor;
  /** Epoch milliseconds. */
  readonly now: number;
  /** A new UUID, the same on every retry of this command. */
  readonly id: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/**
 * One command on one stream.
 *  - `prepare` does slow or external work (hashing, keys, look-ups) before the decision;
 *  - `decide` is pure and may run again after a conflict, always on the newest state.
 */
export interface Command<Input, State, E extends DomainEvent, Ports, Facts, Result> {
  readonly name: string;
  readonly aggregate: Aggregate<State, E>;
  stream(input: Input, context: CommandContext): string;
  /**
   * The ids of records of the tenant that the stream will name, if their deletion is refused while others name them. From
   * the preparation to the append none of them is deleted (`ReferenceLocks`).
   */
  names?(input: Input): readonly string[];
  prepare?(input: Input, ports: Ports, context: CommandContext): Promise<Facts | Failure>;
  /**
   * Phantom: a property's type is compared strictly, a method's is not. A command that needs a missing port does not
   * compile.
   */
  readonly needs?: (ports: Ports) => void;
  /**
   * These facts leave nothing to do, whatever the state is: the stream is then not read. For commands without a result,
   * which reactions issue for every event although few tenants want anything of it.
   */
  isNeedless?(facts: Facts): boolean;
  decide(state: State, input: Input, context: CommandContext, facts: Facts): Decision<E, Result> | Failure;
  /**
   * The failure of a lost claim (default: `duplicateOf(claim)`), or `prepareAgain` if another value would do as
   * well: the next free slug, another free seat.
   */
  whenClaimed?(claim: Claim): Failure | 'prepareAgain';
  /**
   * Rebuilds the result of a run whose response was lost, from the state before it and the events that it appended.
   * Needed for a command with both a preparation and a result, if a route runs it under an `Idempotency-Key`.
   */
  recall?(before: State, events: readonly E[], input: Input, context: CommandContext): Result;
  /**
   * The part of the state that reads show, for `If-Match`: the same value that the route's `tagged` picks from the
   * response. Undefined for a state that does not exist.
   */
  shown?(state: State): unknown;
  /** Read models that must show the change before the response is sent. */
  readonly freshens?: readonly ReadModelName[];
  /**
   * The stream's id was just created for this command. The stream is assumed to be empty; if it is not, the append
   * fails. Gain: `npm run bench -- without command-begins`: 1.47 (95 %: 1.31 to 1.56); 1.12 (0.85 to 1.50)
   * while other work loads the machine.
   */
  readonly begins?: true;
  /**
   * For streams of which only the newest part matters: the number of newest events to fold. Bounds what a long stream
   * costs; of short ones the gain is 1.06 (95 %: 0.99 to 1.19; `npm run bench -- without command-tail`).
   */
  readonly tail?: number;
}

/**
 * A command that creates a record on a new stream, and can be executed for many inputs together: then nothing is read
 * for each of them.
 */
export interface BulkCommand<Input, State, E extends DomainEvent, Ports, Facts, Result> extends Command<
  Input,
  State,
  E,
  Ports,
  Facts,
  Result
> {
  readonly begins: true;
  /**
   * As `prepare`, for many inputs, in their order. Only looks things up: what it stored would not be compensated. A
   * failure is not final: that input is prepared and decided alone.
   */
  prepareAll(
    inputs: readonly Input[],
    ports: Ports,
    context: Pick<CommandContext, 'tenantId'>,
  ): Promise<readonly (Facts | Failure)[]>;
}

// `any` is needed for inference, and is used only here.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyCommand = Command<any, any, any, any, any, any>;

export const defineBulkCommand = <
  Input,
  State,
  E extends DomainEvent,
  Ports = unknown,
  Facts = undefined,
  Result = void,
>(
  command: BulkCommand<Input, State, E, Ports, Facts, Result>,
): BulkCommand<Input, State, E, Ports, Facts, Result> => command;

export const defineCommand = <Input, State, E extends DomainEvent, Ports = unknown, Facts = undefined, Result = void>(
  command: Command<Input, State, E, Ports, Facts, Result>,
): Command<Input, State, E, Ports, Facts, Result> => command;
