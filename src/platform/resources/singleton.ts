import { z } from 'zod';
import { streamName, type Aggregate, type AggregateReader } from '../kernel/aggregate.ts';
import type { Command } from '../kernel/command.ts';
import type { EventDefinition, EventFamily, EventOf, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Query } from '../kernel/query.ts';
import { at, id, nullable, timestamp, type NamedReadModel } from '../kernel/read-model.ts';
import type { Vault } from '../vault/vault.ts';
import type { AnySingleton, SeparateEvents, SettingFields, SingletonDeclaration } from './declaration.ts';
import {
  defaultOf,
  storedName,
  valuesOf,
  type AnyValues,
  type RecordChanges,
  type Field,
  type ShownFields,
  type Values,
} from './fields.ts';
import { columnOf, DeclarationError } from './lasting-type.ts';
import { capitalized, snakeCase } from './names.ts';
import { recordAggregate, type RecordState } from './record-aggregate.ts';
import { recordCommands, type WrittenRecord } from './record-commands.ts';
import { columnsOf, fromColumns, storedNames, toColumns } from './record-columns.ts';
import { responseShape, eventShape } from './schemas.ts';
import { silencedShape, withoutMark } from './silenced.ts';
import { derivedReadModelName } from '../kernel/read-model-name.ts';

/** `TenantSettingsUpdated` carries the changed fields, except those with an event of their own. */
export type SingletonEvents<Noun extends string, F extends SettingFields, A> = EventFamily<{
  readonly [Type in `${Capitalize<Noun>}Updated` | (keyof A & string)]: EventDefinition<z.ZodType<Partial<Values<F>>>>;
}>;

/** Null until the first change. */
interface Edited {
  readonly updatedAt: string | null;
  readonly updatedBy: string | null;
}

/** Everything that is derived from one declaration. */
export interface Singleton<Noun extends string, F extends SettingFields, A extends SeparateEvents<F>> {
  readonly kind: 'singleton';
  readonly declared: SingletonDeclaration<Noun, F, A>;
  readonly events: SingletonEvents<Noun, F, A>;
  /** `state.values` are the settings with their defaults, for decisions. */
  readonly aggregate: Aggregate<RecordState<Values<F>>, EventOf<SingletonEvents<Noun, F, A>>>;
  stream(tenantId: TenantId): string;
  readonly model: NamedReadModel;
  readonly view: z.ZodType<ShownFields<F> & Edited>;
  /** Merges the changes. Emits events for changed fields only, and none without a change. */
  readonly update: Command<
    { readonly changes: RecordChanges<F>; readonly reauthenticated?: boolean | undefined },
    RecordState<Values<F>>,
    EventOf<SingletonEvents<Noun, F, A>>,
    { readonly vault: Vault; readonly aggregates: AggregateReader },
    Partial<Values<F>>,
    WrittenRecord<Values<F>>
  >;
  readonly read: Query<unknown, Values<F> & Edited>;
}

export function defineSingleton<
  const Noun extends string,
  const F extends SettingFields,
  const A extends SeparateEvents<F> = Record<never, never>,
>(declaration: SingletonDeclaration<Noun, F, A>): Singleton<Noun, F, A> {
  const declared = declaration as unknown as AnySingleton;
  const { noun, fields } = declared;
  const defaults = valuesOf(fields, defaultOf);
  const groups = eventGroups(declared);
  const main = `${capitalized(noun)}Updated`;
  const marks = (type: string) => (type === main ? silencedShape(declared) : {});
  const events = {
    category: noun,
    definitions: Object.fromEntries(
      groups.map(({ type, audit, about }) => [
        type,
        { version: 1, schema: z.object({ ...eventShape(about, 'changed'), ...marks(type) }), audit },
      ]),
    ),
  };
  const aggregate = recordAggregate(
    noun,
    { exists: true, values: defaults },
    { writes: Object.keys(events.definitions) },
  );
  const eventsOf = (_id: string, { isSilenced, ...changed }: AnyValues) =>
    groups
      .map(({ type, about }) => ({ type, data: valuesOf(about, (field, name) => changed[storedName(name, field)]) }))
      .filter(({ data }) => Object.keys(data).length > 0)
      .map(({ type, data }) => ({ type, data: isSilenced && type === main ? { ...data, isSilenced } : data }));
  const built = {
    kind: 'singleton',
    declared,
    events,
    aggregate,
    stream: (tenantId: TenantId) => streamName(noun, tenantId, tenantId),
    model: settingsModel(declared, events),
    view: z
      .object({ ...responseShape(fields), updatedAt: z.iso.datetime().nullable(), updatedBy: z.uuid().nullable() })
      .omit(declared.showsEditor ? {} : { updatedBy: true })
      .meta({ title: capitalized(noun) }),
    update: recordCommands(declared, aggregate).update(eventsOf),
    read: settingsQuery(declared, defaults),
  };
  return built as unknown as Singleton<Noun, F, A>;
}

/** The events and their fields: one event per group declared in `apart`, then one for all other fields. */
function eventGroups({
  noun,
  fields,
  apart = {},
}: AnySingleton): { type: string; audit: string; about: Record<string, Field> }[] {
  const chosen = (wanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => wanted(name)));
  const own = Object.entries(apart).map(([type, { fields: names, audit }]) => ({
    type,
    audit,
    about: chosen((name) => names.includes(name)),
  }));
  const others = chosen((name) => !own.some(({ about }) => name in about));
  return [...own, { type: `${capitalized(noun)}Updated`, audit: `${snakeCase(noun)}.updated`, about: others }];
}

/** One row per tenant. Settings that were never set are null, so that a changed default applies to them. */
function settingsModel({ table, version, fields }: AnySingleton, events: EventFamily): NamedReadModel {
  for (const [name, field] of Object.entries(fields)) {
    if (columnOf(field).nullable && defaultOf(field) !== null)
      throw new DeclarationError(`${name} may be null, so null must be its default`);
  }
  const columns = Object.fromEntries(
    Object.entries(columnsOf(fields)).map(([name, column]) => [name, { ...column, nullable: true }]),
  );
  const unset = Object.fromEntries(Object.keys(columns).map((name) => [name, null]));
  const changed = (event: RecordedEvent) => ({
    key: { id: event.tenantId },
    fold: (row: AnyValues | undefined) => ({
      ...(row ?? unset),
      ...toColumns(withoutMark(event.data as AnyValues)),
      updated_by: event.metadata.actor.id,
      updated_at: at(event),
    }),
  });
  return {
    name: derivedReadModelName(table),
    version,
    lane: 'main',
    columns: { id, ...columns, updated_by: nullable(id), updated_at: timestamp },
    key: ['id'],
    families: [events],
    on: Object.fromEntries(Object.keys(events.definitions).map((type) => [type, changed])),
  };
}

function settingsQuery({ table, fields }: AnySingleton, defaults: AnyValues): Query<unknown, AnyValues> {
  return async (reads) => {
    const row = await reads.one<AnyValues>(`select * from ${table} where tenant_id = $1`);
    const set = Object.entries(row ? fromColumns(storedNames(fields), row) : {}).filter(([, value]) => value !== null);
    return {
      ...defaults,
      ...Object.fromEntries(set),
      updatedAt: row?.['updated_at'] ?? null,
      updatedBy: row?.['updated_by'] ?? null,
    };
  };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyDefinedSingleton = Singleton<string, any, any>;
