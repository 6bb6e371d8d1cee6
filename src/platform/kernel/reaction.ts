import type { AnyCommand, Command } from './command.ts';
import type { DomainEvent, EventFamily, EventOf, RecordedEvent } from './event.ts';
import type { JobRequest } from './job.ts';
import type { Columns, Lane, Purge, RowOf } from './read-model.ts';

declare const fits: unique symbol;

/** A command to issue, with input that matches it. Only `effect` creates one. */
export interface CommandRequest {
  readonly command: AnyCommand;
  readonly input: unknown;
  /** Phantom: `effect` has compared command and input. */
  readonly [fits]: true;
}

/** The consequence of an event: another command (`effect`), or a job (`enqueue`). */
export type Effect = CommandRequest | JobRequest;

/** `NoInfer`: only the command determines the input type, so an unknown field does not compile. */
export const effect = <Input, State, E extends DomainEvent, Ports, Facts, Result>(
  command: Command<Input, State, E, Ports, Facts, Result>,
  input: NoInfer<Input>,
): CommandRequest => {
  const request: Omit<CommandRequest, typeof fits> = { command, input };
  return request as CommandRequest;
};

/** A step with state under a key (a process manager), which may return effects. */
export interface StatefulStep<Row, Key extends keyof Row> {
  readonly key: Pick<Row, Key>;
  readonly react: (row: Row | undefined) => { readonly row: Row | undefined; readonly effects: readonly Effect[] };
}
export type Step<Row, Key extends keyof Row> =
  StatefulStep<Row, Key> | { readonly effects: readonly Effect[] } | Purge<Row>;

/**
 * A process manager: turns events into effects. A reaction starts at the end of the log when it is first deployed, and
 * never runs on a rebuild. Its checkpoint and state commit after its commands and together with its jobs, so effects
 * happen at least once. Every effect has an id derived from event, reaction and index, so that a repetition is
 * recognized.
 */
export interface Reaction<
  C extends Columns = Columns,
  Key extends keyof C & string = keyof C & string,
  Families extends readonly EventFamily[] = readonly EventFamily[],
> {
  readonly name: string;
  /**
   * Default 1. Raise it when columns, key or fold of the state change, and when the state is added or removed. The new
   * version folds its state from history without effects, and continues at the checkpoint of the previous version.
   */
  readonly version?: number;
  readonly lane: Lane;
  readonly families: Families;
  readonly state?: { readonly columns: C; readonly key: readonly Key[] };
  readonly on: {
    readonly [Type in EventOf<Families[number]>['type']]?: (
      event: RecordedEvent<Extract<EventOf<Families[number]>, { type: Type }>>,
    ) => readonly Step<RowOf<C>, Key>[];
  };
}

export const defineReaction = <
  const Families extends readonly EventFamily[],
  const C extends Columns = Record<string, never>,
  const Key extends keyof C & string = keyof C & string,
>(
  reaction: Reaction<C, Key, Families>,
): Reaction<C, Key, Families> => reaction;

export const versionOf = ({ version }: Pick<Reaction, 'version'>): number => version ?? 1;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyReaction = Reaction<any, any, any>;
