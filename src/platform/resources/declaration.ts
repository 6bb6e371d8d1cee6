import type { z } from 'zod';
import type { PermissionName, RoleName } from './access-words.ts';
import type { FieldRule } from './field-rule.ts';
import type { Fields, SecretField, Values } from './fields.ts';
import type { Reference } from './references.ts';
import type { Tracked, TrackedFields } from './tracked.ts';

/** What the record does so that people hear of attacks (decision 0150). */
export interface Watch<V> {
  /** Completes "Required if …" in the API description. */
  readonly silencedWhere: string;
  /** The title of the alert about it. */
  readonly title: string;
  /** After this change people hear of less than before. `after` is undefined: the record is deleted. */
  silences(before: V, after: V | undefined): boolean;
}

interface Declared<Noun extends string, F extends Fields> {
  /** `canaryCookie`: the stream category. Names of events and audit actions derive from it. */
  readonly noun: Noun;
  /** The tag of its section in the API description. */
  readonly area: string;
  readonly path: string;
  readonly access: { readonly read: PermissionName; readonly write: PermissionName };
  /** The read model, and its name in queries. */
  readonly table: string;
  /** The version of the read model: increase it when a field is added, removed or changes its type. */
  readonly version: number;
  readonly fields: F;
  /** Fields that name other records of the tenant. A new id must name one that exists. */
  readonly references?: { readonly [Name in keyof F & string]?: Reference };
  /** A rule between fields, checked before a record is created or changed. */
  readonly rule?: FieldRule<F>;
  /** Normalizes values that depend on each other. Runs before `rule`, and must not change what `rule` refuses. */
  readonly settled?: (values: Values<F>) => Values<F>;
  /** A change that silences the watch needs a fresh proof and raises an alert. */
  readonly watch?: Watch<Values<F>>;
  /** Extensions poll data that depends on it: a change gives the tenant a new policy version (`policy-versions.ts`). */
  readonly toldToExtensions?: boolean;
}

export type Verb = 'list' | 'create' | 'read' | 'update' | 'delete';

/** Many records of one kind: whitelist entries, canary cookies, signatures. */
export interface CollectionDeclaration<Noun extends string, F extends Fields, T extends TrackedFields> extends Declared<
  Noun,
  F
> {
  /** The name of the list in a response: `{ <list>: […], total }` (OP-003). */
  readonly list: string;
  /** Name of the path parameter of one record. */
  readonly parameter: string;
  readonly verbs: readonly Verb[];
  /** Combinations of fields that must be unique in a tenant. Text is compared without case. */
  readonly unique?: readonly (readonly (keyof F & string)[])[];
  /** Fields by which a list can be filtered. */
  readonly filters?: readonly (keyof F & string)[];
  /** Fields that these roles see as null. */
  readonly hidden?: { readonly [Name in keyof F]?: readonly RoleName[] };
  readonly showsCreator?: boolean;
  readonly tracked?: Tracked<T>;
  /** The exact limit of records per tenant (`slots.ts`): one more is a 409. Not for records that hold secrets. */
  readonly most?: number;
  /** The row counts the record's writes (`version`, from 1), for workers that record which state of it they used. */
  readonly versioned?: boolean;
}

/** A setting has a default, or is a secret that is not set yet. */
export type SettingFields = Readonly<Record<string, z.ZodDefault | SecretField>>;

/** Fields whose change is an event of its own, because it means more than a changed setting. */
export type SeparateEvents<F extends Fields> = Readonly<
  Record<string, { readonly fields: readonly (keyof F & string)[]; readonly audit: string }>
>;

/** One record per tenant that exists from the start with its defaults: settings. */
export interface SingletonDeclaration<
  Noun extends string,
  F extends SettingFields,
  A extends SeparateEvents<F>,
> extends Declared<Noun, F> {
  readonly apart?: A;
  readonly showsEditor?: boolean;
}

export type AnyDeclared = Declared<string, Fields> & Pick<AnyCollection, 'unique' | 'most'>;
export type AnyCollection = CollectionDeclaration<string, Fields, TrackedFields>;
export type AnySingleton = SingletonDeclaration<string, SettingFields, SeparateEvents<Fields>>;
