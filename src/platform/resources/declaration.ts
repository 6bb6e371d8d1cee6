import type { z } from 'zod';
import type { Failure } from '../kernel/failure.ts';
import type { PermissionName, RoleName } from './access-words.ts';
import type { Fields, SecretField, Values } from './fields.ts';
import type { Tracked, TrackedFields } from './tracked.ts';

interface Declared<Noun extends string, F extends Fields> {
  /** `canaryCookie`: the stream category; the events are called after it, and so are the audit log's words. */
  readonly noun: Noun;
  /** The tag of its section in the API's description. */
  readonly area: string;
  readonly path: string;
  readonly access: { readonly read: PermissionName; readonly write: PermissionName };
  /** The read model, and the name that queries know it by. */
  readonly table: string;
  /** Of the read model: one more whenever a field is added, dropped or changes its type. */
  readonly version: number;
  readonly fields: F;
  /** A rule about the record as a whole, asked before it is created or changed. */
  readonly rule?: (values: Values<F>) => Failure | undefined;
  /** The one form in which the record keeps values that mean something together. Comes before `rule`; leaves alone what that will refuse. */
  readonly settled?: (values: Values<F>) => Values<F>;
  /** What extensions poll depends on it: a change gives the tenant a new policy version (`projections/policies/policy-versions.ts`). */
  readonly toldToExtensions?: boolean;
}

export type Verb = 'list' | 'create' | 'read' | 'update' | 'delete';

/** Many records of one kind: whitelist entries, canary cookies, signatures. */
export interface CollectionDeclaration<Noun extends string, F extends Fields, T extends TrackedFields> extends Declared<
  Noun,
  F
> {
  /** What the list is called in an answer: `{ <list>: […], total }` (choice OP-003). */
  readonly list: string;
  /** Name of the path parameter of one record. */
  readonly parameter: string;
  readonly verbs: readonly Verb[];
  /** Fields that together are one record's alone in a tenant. Text is compared without case. */
  readonly unique?: readonly (readonly (keyof F & string)[])[];
  /** Fields that a list may be narrowed by. */
  readonly filters?: readonly (keyof F & string)[];
  /** Fields that these roles see as null. */
  readonly hidden?: { readonly [Name in keyof F]?: readonly RoleName[] };
  readonly showsCreator?: boolean;
  readonly tracked?: Tracked<T>;
  /** No more than so many in a tenant, exactly (`slots.ts`): one too many is a 409. Not for records that hold secrets. */
  readonly most?: number;
  /** The row counts the record's writes, the first included (`version`), for whoever has to say by which state of it they went. */
  readonly versioned?: boolean;
}

/** A setting has a default from the start, or is a secret that is not there yet. */
export type SettingFields = Readonly<Record<string, z.ZodDefault | SecretField>>;

/** Fields whose change is an event of its own, because it means more than a setting that was set. */
export type SeparateEvents<F extends Fields> = Readonly<
  Record<string, { readonly fields: readonly (keyof F & string)[]; readonly audit: string }>
>;

/** One record a tenant, there from the start with its defaults: settings. */
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
