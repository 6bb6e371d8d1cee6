import { z } from 'zod';
import { streamName, type Aggregate, type AggregateReader } from '../kernel/aggregate.ts';
import type { Claim, Command } from '../kernel/command.ts';
import type { EventDefinition, EventFamily, EventOf } from '../kernel/event.ts';
import type { Failure } from '../kernel/failure.ts';
import { uuid, type TenantId } from '../kernel/ids.ts';
import type { Query } from '../kernel/query.ts';
import type { NamedReadModel } from '../kernel/read-model.ts';
import type { Vault } from '../vault/vault.ts';
import { collectionModel } from './collection-model.ts';
import { collectionQueries } from './collection-queries.ts';
import type { AnyCollection, CollectionDeclaration } from './declaration.ts';
import {
  isSecret,
  type AnyValues,
  type RecordChanges,
  type RecordDraft,
  type Fields,
  type ShownFields,
  type Values,
} from './fields.ts';
import { DeclarationError } from './lasting-type.ts';
import { capitalized, snakeCase } from './names.ts';
import { recordAggregate, type RecordState } from './record-aggregate.ts';
import { recordClaims, recordCommands, type EventsOnCreate, type WrittenRecord } from './record-commands.ts';
import { responseShape, eventShape } from './schemas.ts';
import { silencedShape } from './silenced.ts';
import type { SlotPorts } from './slots.ts';
import type { TrackedFields } from './tracked.ts';

interface Identified {
  readonly id: string;
}

/** `CanaryCookieCreated` carries the whole record, `…Updated` the changed fields, `…Deleted` its id. */
export type CollectionEvents<Noun extends string, F extends Fields> = EventFamily<
  { readonly [Type in `${Capitalize<Noun>}Created`]: EventDefinition<z.ZodType<Identified & Values<F>>> } & {
    readonly [Type in `${Capitalize<Noun>}Updated`]: EventDefinition<z.ZodType<Identified & Partial<Values<F>>>>;
  } & { readonly [Type in `${Capitalize<Noun>}Deleted`]: EventDefinition<z.ZodType<Identified>> }
>;

interface Proved {
  /** Required where the change silences a watch. */
  readonly reauthenticated?: boolean | undefined;
}

interface Times {
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A record as stored in its row, with references in place of secrets. Workers read this. */
export type StoredRecord<F extends Fields, T extends TrackedFields, Versioned extends boolean> = Identified &
  Values<F> &
  ShownFields<T> &
  Times & { readonly createdBy: string | null } & (Versioned extends true ? { readonly version: number } : unknown);

type RecordCommand<Input, Noun extends string, F extends Fields, Ports = unknown> = Command<
  Input,
  RecordState<Values<F>>,
  EventOf<CollectionEvents<Noun, F>>,
  { readonly vault: Vault; readonly aggregates: AggregateReader } & Ports,
  Partial<Values<F>>,
  WrittenRecord<Values<F>>
>;

/** Everything that is derived from one declaration. */
export interface Collection<
  Noun extends string,
  F extends Fields,
  T extends TrackedFields,
  Versioned extends boolean = boolean,
> {
  readonly kind: 'collection';
  readonly declared: CollectionDeclaration<Noun, F, T>;
  readonly events: CollectionEvents<Noun, F>;
  readonly aggregate: Aggregate<RecordState<Values<F>>, EventOf<CollectionEvents<Noun, F>>>;
  stream(tenantId: TenantId, id: string): string;
  /** The claims of a record with these values. */
  claims(values: Partial<Values<F>>): readonly Claim[];
  readonly model: NamedReadModel;
  readonly view: z.ZodType<Identified & ShownFields<F> & ShownFields<T> & Times>;
  /** The record's id is the command's id. */
  readonly create: RecordCommand<RecordDraft<F>, Noun, F, SlotPorts>;
  readonly update: RecordCommand<Identified & Proved & { readonly changes: RecordChanges<F> }, Noun, F>;
  readonly remove: RecordCommand<Identified & Proved, Noun, F>;
  /** All records with these values, newest first. */
  readonly all: Query<Partial<Values<F>>, StoredRecord<F, T, Versioned>[]>;
  readonly get: Query<Identified, StoredRecord<F, T, Versioned>>;
}

/** A record that `all` returns: `RecordOf<typeof signatures>`. */
export type RecordOf<C extends Pick<AnyDefinedCollection, 'all'>> = Exclude<
  Awaited<ReturnType<C['all']>>,
  Failure
>[number];

export function defineCollection<
  const Noun extends string,
  const F extends Fields,
  const T extends TrackedFields = Record<never, never>,
  const Versioned extends boolean = false,
>(
  declaration: CollectionDeclaration<Noun, F, T> & { readonly versioned?: Versioned },
): Collection<Noun, F, T, Versioned> {
  const declared = declaration as unknown as AnyCollection;
  const { noun, fields, most } = declared;
  if (most !== undefined && Object.values(fields).some(isSecret))
    throw new DeclarationError(
      `${noun}: \`most\` and secrets exclude each other, because a command that loses its slot would store its secrets twice`,
    );
  const slot = most === undefined ? {} : { slot: z.int() };
  // Fields hidden from some roles are also concealed in the audit log, because it can be exported.
  const concealed = declared.hidden ? { concealed: Object.keys(declared.hidden) } : {};
  const type = {
    created: `${capitalized(noun)}Created`,
    updated: `${capitalized(noun)}Updated`,
    deleted: `${capitalized(noun)}Deleted`,
  };
  const audit = snakeCase(noun);
  const events = {
    category: noun,
    definitions: {
      [type.created]: {
        version: 1,
        schema: z.object({ id: uuid(), ...slot, ...eventShape(fields, 'whole') }),
        ...concealed,
        audit: `${audit}.created`,
      },
      [type.updated]: {
        version: 1,
        schema: z.object({ id: uuid(), ...eventShape(fields, 'changed'), ...silencedShape(declared) }),
        ...concealed,
        audit: `${audit}.updated`,
      },
      [type.deleted]: {
        version: 1,
        schema: z.object({ id: uuid(), ...silencedShape(declared) }),
        audit: `${audit}.deleted`,
      },
    },
  };
  const aggregate = recordAggregate(
    noun,
    { exists: false, values: {} },
    { writes: [type.created, type.updated], ends: type.deleted },
  );
  const { create, update, remove } = recordCommands(declared, aggregate);
  const eventsOf =
    (name: string): EventsOnCreate =>
    (id, values) => [{ type: name, data: { id, ...values } }];
  const built = {
    kind: 'collection',
    declared,
    events,
    aggregate,
    stream: (tenantId: TenantId, id: string) => streamName(noun, tenantId, id),
    claims: (values: AnyValues) => recordClaims(declared, values),
    model: collectionModel(declared, events),
    view: collectionView(declared),
    create: create(eventsOf(type.created)),
    update: update(eventsOf(type.updated)),
    remove: remove(eventsOf(type.deleted)),
    ...collectionQueries(declared),
  };
  return built as unknown as Collection<Noun, F, T, Versioned>;
}

const collectionView = ({ noun, fields, tracked, hidden = {}, showsCreator }: AnyCollection): z.ZodObject =>
  z
    .object({
      id: z.uuid(),
      ...responseShape(fields, (name) => name in hidden),
      ...responseShape(tracked?.fields ?? {}),
      ...(showsCreator ? { createdBy: z.uuid().nullable() } : {}),
      createdAt: z.iso.datetime(),
      updatedAt: z.iso.datetime(),
    })
    .meta({ title: capitalized(noun) });

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyDefinedCollection = Collection<string, any, any>;
