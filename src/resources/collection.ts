import type { z } from 'zod';
import { streamName, type Aggregate } from '../kernel/aggregate.ts';
import type { Command } from '../kernel/command.ts';
import type { EventOf } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Query } from '../kernel/query.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import type { Vault } from '../vault/vault.ts';
import { collectionCommands, type Written } from './collection-commands.ts';
import { collectionEvents, recordAggregate, type AnyCollection, type CollectionEvents, type RecordState } from './collection-events.ts';
import { collectionModel } from './collection-model.ts';
import { collectionQueries, type ListQuestion } from './collection-queries.ts';
import { freshenedBy, type CollectionDeclaration, type TrackedFields } from './declaration.ts';
import type { Changes, Draft, Fields, Shown, Values } from './fields.ts';
import { collectionView } from './views.ts';

type Times = { readonly createdAt: string; readonly updatedAt: string };

/** A record as its row keeps it, with references where secrets are: what workers read. */
export type Kept<F extends Fields, T extends TrackedFields> = { readonly id: string } & Values<F> &
  Shown<T> &
  Times & { readonly createdBy: string | null };

type View<F extends Fields, T extends TrackedFields> = { readonly id: string } & Shown<F> & Shown<T> & Times;

type RecordCommand<Input, F extends Fields, E extends { type: string; data: unknown }> = Command<
  Input,
  RecordState<Values<F>>,
  E,
  { readonly vault: Vault },
  Partial<Values<F>>,
  Written<Values<F>>
>;

/** Everything that follows from one declaration. */
export interface Collection<Noun extends string, F extends Fields, T extends TrackedFields> {
  readonly kind: 'collection';
  readonly declared: CollectionDeclaration<Noun, F, T>;
  readonly events: CollectionEvents<Noun, F>;
  readonly aggregate: Aggregate<RecordState<Values<F>>, EventOf<CollectionEvents<Noun, F>>>;
  stream(tenantId: TenantId, id: string): string;
  readonly model: AnyReadModel;
  readonly view: z.ZodType<View<F, T>>;
  /** The record's id is the command's. */
  readonly create: RecordCommand<Draft<F>, F, EventOf<CollectionEvents<Noun, F>>>;
  readonly update: RecordCommand<{ readonly id: string; readonly changes: Changes<F> }, F, EventOf<CollectionEvents<Noun, F>>>;
  readonly remove: RecordCommand<{ readonly id: string }, F, EventOf<CollectionEvents<Noun, F>>>;
  /** Every record with these values, newest first. */
  readonly all: Query<Partial<Values<F>>, Kept<F, T>[]>;
  readonly list: Query<ListQuestion<Partial<Values<F>>>, { records: Kept<F, T>[]; total: number }>;
  readonly get: Query<{ readonly id: string }, Kept<F, T>>;
}

export function defineCollection<const Noun extends string, const F extends Fields, const T extends TrackedFields = Record<never, never>>(
  declaration: CollectionDeclaration<Noun, F, T>,
): Collection<Noun, F, T> {
  const declared = declaration as unknown as AnyCollection;
  const { noun } = declared;
  const events = collectionEvents(declared);
  const aggregate = recordAggregate(declared);
  const built = {
    kind: 'collection',
    declared,
    events,
    aggregate,
    stream: (tenantId: TenantId, id: string) => streamName(noun, tenantId, id),
    model: collectionModel(declared, events),
    view: collectionView(declared),
    ...collectionCommands(declared, aggregate, freshenedBy(declared)),
    ...collectionQueries(declared),
  };
  // Inside, names of fields are data; the declaration's types come back here, and only here.
  return built as unknown as Collection<Noun, F, T>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyDefinedCollection = Collection<string, any, any>;
