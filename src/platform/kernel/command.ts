import type { Actor } from './actor.ts';
import type { Aggregate } from './aggregate.ts';
import type { DomainEvent } from './event.ts';
import type { Failure } from './failure.ts';
import type { TenantId } from './ids.ts';
import type { ReadModelName } from './read-model-name.ts';

/**
 * Something that may have one owner at a time within a tenant: an e-mail, a userName, an open alert's fingerprint,
 * an enrollment token's single use. The store keeps a keyed digest of `value`, never the value.
 */
export interface Claim {
  readonly kind: string;
  readonly value: string;
  /** Owner scope when it is not the stream's tenant (`INSTALLATION` for "set-up is complete"). */
  readonly tenantId?: TenantId;
}

/** Refers to a secret in the vault, as events and states do. */
export type SecretRef = string;

/** What a decider answers: events, the claims that the same append takes or gives up, and the secrets that nothing refers to afterwards. */
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
  /** References as the state before holds them: null or undefined where there was none. */
  readonly forget?: readonly (SecretRef | null | undefined)[];
}

/** A secret that another one replaces, for `forget`: nothing where it is the same. */
export const replacedSecret = <Ref extends SecretRef | null | undefined>(before: Ref, after: Ref): Ref[] =>
  before === after ? [] : [before];

/** The events that follow, with the claims they take or release and the secrets they give up. No events: the state is already as asked. */
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

/** As `accept`, with a value for the caller that no event may hold (a token shown once). */
export const acceptWith = <E extends DomainEvent, Result>(
  result: Result,
  events: readonly E[],
  consequences: Consequences = {},
): Decision<E, Result> => ({ ...accept(events, consequences), result });

/** Everything a decision may know besides state and input. Ids and time come in, so that `decide` is pure. */
export interface CommandContext {
  readonly tenantId: TenantId;
  readonly actor: Actor;
  /** Epoch milliseconds. */
  readonly now: number;
  /** A fresh UUID, the same on every retry of this command. */
  readonly id: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/**
 * One command on one stream.
 *  - `prepare` does what is slow or outside (hashing, keys, look-ups) before the decision;
 *  - `decide` is pure and may run again after a conflict, always on the newest state.
 */
export interface Command<Input, State, E extends DomainEvent, Ports, Facts, Result> {
  readonly name: string;
  readonly aggregate: Aggregate<State, E>;
  stream(input: Input, context: CommandContext): string;
  prepare?(input: Input, ports: Ports, context: CommandContext): Promise<Facts | Failure>;
  /** Phantom: a property is compared strictly, a method is not. So no command runs where a port that it needs is missing. */
  readonly needs?: (ports: Ports) => void;
  decide(state: State, input: Input, context: CommandContext, facts: Facts): Decision<E, Result> | Failure;
  /**
   * What a lost claim means to the caller (default: `conflict('already exists')`), or `prepareAgain` where another value
   * would do as well: the next free slug, another free seat.
   */
  whenClaimed?(claim: Claim): Failure | 'prepareAgain';
  /**
   * The result of a run whose response was lost, from the state that it was decided on and the events that it appended. For a
   * command with both a preparation and a result, where a route runs it under an `Idempotency-Key`.
   */
  recall?(before: State, events: readonly E[], input: Input, context: CommandContext): Result;
  /** Read models that a caller expects to see changed when the answer comes. */
  readonly freshens?: readonly ReadModelName[];
  /** The stream's id was made for this command a moment ago: it is taken for new, and should it not be, the append says so. */
  readonly begins?: true;
  /** For streams that only matter in their latest part: how many of the newest events the state is folded from. */
  readonly tail?: number;
}

// Inference needs every parameter named once; `any` never leaves this line.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyCommand = Command<any, any, any, any, any, any>;

export const defineCommand = <Input, State, E extends DomainEvent, Ports = unknown, Facts = undefined, Result = void>(
  command: Command<Input, State, E, Ports, Facts, Result>,
): Command<Input, State, E, Ports, Facts, Result> => command;
