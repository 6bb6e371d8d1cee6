import { z } from 'zod';
import { streamName, type Aggregate } from '../kernel/aggregate.ts';
import type { Command } from '../kernel/command.ts';
import type { EventDefinition, EventFamily, EventOf } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Query } from '../kernel/query.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import type { Vault } from '../vault/vault.ts';
import type { Apart, SettingFields, SingletonDeclaration } from './declaration.ts';
import type { Changes, Fields, Shown, Values } from './fields.ts';
import { settingsAggregate, settingsCommand, settingsEvents, settingsModel, settingsQuery, type AnySingleton } from './singleton-parts.ts';
import { shownShape } from './views.ts';

/** `TenantSettingsUpdated` carries what changed, save for the fields that have an event of their own. */
export type SingletonEvents<Noun extends string, F extends Fields, A> = EventFamily<
  { readonly [Type in `${Capitalize<Noun>}Updated`]: EventDefinition<z.ZodType<Partial<Values<F>>>> } & {
    readonly [Type in keyof A & string]: EventDefinition<z.ZodType<Partial<Values<F>>>>;
  }
>;

interface Edited {
  /** Null as long as nobody has changed anything. */
  readonly updatedAt: string | null;
  readonly updatedBy: string | null;
}

export interface WrittenSettings<V> {
  readonly values: V;
  readonly secretsGivenUp: readonly string[];
}

/** Everything that follows from one declaration. */
export interface Singleton<Noun extends string, F extends SettingFields, A extends Apart<F>> {
  readonly kind: 'singleton';
  readonly declared: SingletonDeclaration<Noun, F, A>;
  readonly events: SingletonEvents<Noun, F, A>;
  /** The state is the settings themselves, with their defaults: what decisions load. */
  readonly aggregate: Aggregate<Values<F>, EventOf<SingletonEvents<Noun, F, A>>>;
  stream(tenantId: TenantId): string;
  readonly model: AnyReadModel;
  readonly view: z.ZodType<Shown<F> & Edited>;
  readonly update: Command<Changes<F>, Values<F>, EventOf<SingletonEvents<Noun, F, A>>, { readonly vault: Vault }, Partial<Values<F>>, WrittenSettings<Values<F>>>;
  readonly read: Query<unknown, Values<F> & Edited>;
}

export function defineSingleton<const Noun extends string, const F extends SettingFields, const A extends Apart<F> = Record<never, never>>(
  declaration: SingletonDeclaration<Noun, F, A>,
): Singleton<Noun, F, A> {
  const declared = declaration as unknown as AnySingleton;
  const { noun, fields, showsEditor } = declared;
  const events = settingsEvents(declared);
  const aggregate = settingsAggregate(declared, events);
  const built = {
    kind: 'singleton',
    declared,
    events,
    aggregate,
    stream: (tenantId: TenantId) => streamName(noun, tenantId, tenantId),
    model: settingsModel(declared, events),
    view: z
      .object({
        ...shownShape(fields),
        updatedAt: z.iso.datetime().nullable(),
        ...(showsEditor ? { updatedBy: z.uuid().nullable() } : {}),
      })
      .meta({ title: noun }),
    update: settingsCommand(declared, aggregate),
    read: settingsQuery(declared),
  };
  // Inside, names of fields are data; the declaration's types come back here, and only here.
  return built as unknown as Singleton<Noun, F, A>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyDefinedSingleton = Singleton<string, any, any>;
