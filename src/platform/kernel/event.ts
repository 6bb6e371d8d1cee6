import type { z } from 'zod';
import type { Actor } from './actor.ts';
import type { TenantId } from './ids.ts';

/**
 * Events are contracts: a past-tense type, an explicit version, a schema. What was once written is read for ever,
 * so a changed shape means a higher version and an upcaster from the one before.
 */
export interface EventDefinition<Schema extends z.ZodType = z.ZodType> {
  readonly version: number;
  readonly schema: Schema;
  /** Which fields are a person's, and where the id of that person stands. They are sealed under the person's own key. */
  readonly personal?: { readonly subject: string; readonly fields: readonly string[] };
  /** Top-level fields that are shown nowhere outside their own resource: the audit log and its export say `[concealed]` for them. */
  readonly concealed?: readonly string[];
  /** `upcasters[n]` turns the data of version n into that of version n + 1. */
  readonly upcasters?: Readonly<Record<number, (data: never) => unknown>>;
  /** The word in the audit log, e.g. `alert.resolved`; `false` keeps the event (telemetry) out of it. */
  readonly audit: string | false;
  /** What the event is about, where that is not the stream: resource type, and the field that holds its id. */
  readonly about?: { readonly resource: string; readonly id: string };
}

export type EventDefinitions = Readonly<Record<string, EventDefinition>>;

/** A family of events that share a stream category: one aggregate, one audit resource type. */
export interface EventFamily<Definitions extends EventDefinitions = EventDefinitions> {
  readonly category: string;
  readonly definitions: Definitions;
}

export const defineEvents = <const Definitions extends EventDefinitions>(
  category: string,
  definitions: Definitions,
): EventFamily<Definitions> => ({ category, definitions });

/** The union `{ type: 'AlertRaised', data: … } | …` of a family. */
export type EventOf<Family extends EventFamily> =
  Family extends EventFamily<infer Definitions>
    ? {
        [Type in keyof Definitions & string]: {
          readonly type: Type;
          readonly data: z.output<Definitions[Type]['schema']>;
        };
      }[keyof Definitions & string]
    : never;

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

export interface EventMetadata {
  readonly actor: Actor;
  /** The request or run that everything in this chain of effects goes back to. */
  readonly correlationId: string;
  /** The event or command that directly caused this one. */
  readonly causationId: string;
  readonly commandId: string;
}

/**
 * A place in the feed. It rises with every event in commit order; only comparison means anything
 * (gapless on Postgres, byte offsets on EventStoreDB).
 */
export type Position = bigint;
export const START: Position = 0n;

export interface Envelope {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  /** Epoch milliseconds: when the store took it in. */
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
  /** The event as the store holds it, in the version in which it was written and with personal values sealed: what the audit chain hashes. */
  readonly stored: { readonly version: number; readonly data: unknown };
}

/** An event as a reader gets it: validated, upcast, opened. */
export type RecordedEvent<E extends DomainEvent = DomainEvent> = E & Envelope;

/**
 * What stands in for a personal value after its person was erased.
 * A projection that meets it stores nothing personal; it never crashes.
 */
export const ERASED = '[erased]';
/** What the audit log shows of a concealed field. */
export const CONCEALED = '[concealed]';
