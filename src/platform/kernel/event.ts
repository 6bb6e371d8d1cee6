import type { z } from 'zod';
import type { Actor } from './actor.ts';
import type { GuardedFields } from './guarded-fields.ts';
import type { TenantId } from './ids.ts';

/**
 * Events are contracts: a past-tense type, an explicit version, a schema. Stored events stay readable, so a changed
 * shape needs a higher version and an upcaster from the previous one.
 */
export interface EventDefinition<Schema extends z.ZodType = z.ZodType> {
  readonly version: number;
  readonly schema: Schema;
  /** Fields with personal data, and the field with the person's id. They are sealed under that person's key. */
  readonly personal?: { readonly subject: string; readonly fields: readonly string[] };
  /** Top-level fields that only their own resource shows: the audit log and its export show `[concealed]` instead. */
  readonly concealed?: readonly string[];
  /** Fields that may carry a secret of a third party's system: the audit log and forwarding show a part of them. */
  readonly guarded?: GuardedFields;
  /** `upcasters[n]` turns the data of version n into that of version n + 1. */
  readonly upcasters?: Readonly<Record<number, (data: never) => unknown>>;
  /** The action name in the audit log, e.g. `alert.resolved`; `false` keeps the event (telemetry) out of it. */
  readonly audit: string | false;
  /** The resource the event is about, if that is not the stream's: resource type, and the field with its id. */
  readonly about?: { readonly resource: string; readonly id: string };
}

export type EventDefinitions = Readonly<Record<string, EventDefinition>>;

/** Events that share a stream category: one aggregate, one audit resource type. */
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
  /** The request or run at the start of this chain of effects. */
  readonly correlationId: string;
  /** The event or command that directly caused this one. */
  readonly causationId: string;
  readonly commandId: string;
}

/**
 * A place in the log. It rises with every event in commit order. Only comparison is meaningful (gapless on PostgreSQL,
 * byte offsets on EventStoreDB).
 */
export type Position = bigint;
export const START: Position = 0n;

export interface Envelope {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  /** When the store recorded the event, in epoch milliseconds. */
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
  /** The event as stored: in its original version, with personal values sealed. The audit chain hashes this. */
  readonly stored: { readonly version: number; readonly data: unknown };
}

/** An event as a reader gets it: validated, upcast, decrypted. */
export type RecordedEvent<E extends DomainEvent = DomainEvent> = E & Envelope;

/**
 * Replaces a personal value after its person was erased. A projection must accept it, and must not treat it as personal
 * data.
 */
export const ERASED = '[erased]';
