import { z } from 'zod';
import { streamName, type Aggregate } from '../kernel/aggregate.ts';
import { acceptWith, defineCommand, type AnyCommand } from '../kernel/command.ts';
import type { DomainEvent, EventFamily, Recorded } from '../kernel/event.ts';
import { isFailure } from '../kernel/failure.ts';
import type { Query } from '../kernel/query.ts';
import { at, id, nullable, timestamp, type AnyReadModel, type Column } from '../kernel/read-model.ts';
import type { Vault } from '../vault/vault.ts';
import { asColumns, columnsOf, fromColumns } from './collection-model.ts';
import { contentSchema, DeclarationError } from './contract.ts';
import { freshenedBy, type Apart, type SettingFields, type SingletonDeclaration } from './declaration.ts';
import { changedValues, defaultOf, keptName, plainValues, type AnyValues, type Fields } from './fields.ts';
import { capitalized, snakeCase } from './names.ts';
import { keepSecrets, secretPlace, secretsGivenUp } from './secrets.ts';

export type AnySingleton = SingletonDeclaration<string, SettingFields, Apart<Fields>>;

interface ChangeEvent {
  readonly type: string;
  readonly fields: Fields;
  readonly audit: string;
}

/** Which event tells of which fields. */
function changeEvents({ noun, fields, apart = {} }: AnySingleton): ChangeEvent[] {
  const chosen = (wanted: (name: string) => boolean): Fields => Object.fromEntries(Object.entries(fields).filter(([name]) => wanted(name)));
  const own = Object.entries(apart).map(([type, { fields: names, audit }]) => ({ type, audit, fields: chosen((name) => names.includes(name)) }));
  const rest = chosen((name) => !own.some(({ fields: taken }) => name in taken));
  return [...own, { type: `${capitalized(noun)}Updated`, audit: `${snakeCase(noun)}.updated`, fields: rest }];
}

export const settingsEvents = (declared: AnySingleton): EventFamily => ({
  category: declared.noun,
  definitions: Object.fromEntries(
    changeEvents(declared).map(({ type, audit, fields }) => [type, { version: 1, schema: z.object(contentSchema(fields, 'changed')), audit }]),
  ),
});

const defaultsOf = (fields: Fields): AnyValues =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [keptName(name, field), defaultOf(field)]));

export const settingsAggregate = ({ noun, fields }: AnySingleton, { definitions }: EventFamily): Aggregate<AnyValues, DomainEvent> => ({
  category: noun,
  initial: defaultsOf(fields),
  fold: (state, { type, data }) => (definitions[type] ? { ...state, ...(data as AnyValues) } : state),
});

/** Merges; says in events what changed, and nothing when nothing did. */
export function settingsCommand(declared: AnySingleton, aggregate: Aggregate<AnyValues, DomainEvent>): AnyCommand {
  const { noun, fields, rule } = declared;
  const told = changeEvents(declared).map(({ type, fields: of }) => ({ type, names: Object.entries(of).map(([name, field]) => keptName(name, field)) }));
  return defineCommand({
    name: `Update${capitalized(noun)}`,
    aggregate,
    stream: (_changes: AnyValues, { tenantId }) => streamName(noun, tenantId, tenantId),
    prepare: (changes: AnyValues, { vault }: { readonly vault: Vault }, { tenantId }): Promise<AnyValues> =>
      keepSecrets(fields, changes, (field) => secretPlace(noun, tenantId, field), vault, tenantId),
    decide(state, changes, _context, facts) {
      const changed = changedValues(state, { ...plainValues(fields, changes), ...facts });
      const values = { ...state, ...changed };
      const result = { values, secretsGivenUp: secretsGivenUp(fields, state, values) };
      const broken = Object.keys(changed).length > 0 ? rule?.(values as never) : undefined;
      if (isFailure(broken)) return broken;
      const events = told
        .map(({ type, names }) => ({ type, data: Object.fromEntries(Object.entries(changed).filter(([name]) => names.includes(name))) }))
        .filter(({ data }) => Object.keys(data).length > 0);
      return acceptWith(result, events);
    },
    freshens: freshenedBy(declared),
  });
}

/** One row a tenant. What was never set is null there, so that a default which changes reaches whoever relies on it. */
export function settingsModel({ table, version, fields }: AnySingleton, events: EventFamily): AnyReadModel {
  const own = columnsOf(fields);
  const ambiguous = Object.entries(fields).find(([name, field]) => columnsOf({ [name]: field })[snakeCase(keptName(name, field))]!.nullable && defaultOf(field) !== null);
  if (ambiguous) throw new DeclarationError(`${ambiguous[0]} may be null, so null must be its default`);
  const unset = Object.fromEntries(Object.keys(own).map((name) => [name, null]));
  const changed = (event: Recorded) => ({
    key: {},
    fold: (row: AnyValues | undefined) => ({
      ...(row ?? unset),
      ...asColumns(event.data as AnyValues),
      updated_by: event.metadata.actor.id,
      updated_at: at(event),
    }),
  });
  return {
    name: table,
    version,
    lane: 'main',
    columns: { ...optional(own), updated_by: nullable(id), updated_at: timestamp },
    key: [],
    families: [events],
    on: Object.fromEntries(Object.keys(events.definitions).map((type) => [type, changed])),
  };
}

const optional = (columns: Record<string, Column>): Record<string, Column> =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, { ...column, nullable: true }]));

export function settingsQuery({ table, fields }: AnySingleton): Query<unknown, AnyValues> {
  const defaults = defaultsOf(fields);
  return async (reads) => {
    const row = await reads.one<AnyValues>(`select * from ${table} where tenant_id = $1`);
    if (!row) return { ...defaults, updatedAt: null, updatedBy: null };
    const set = Object.entries(fromColumns(Object.keys(defaults), row)).filter(([, value]) => value !== null);
    return { ...defaults, ...Object.fromEntries(set), updatedAt: row['updated_at'], updatedBy: row['updated_by'] };
  };
}
