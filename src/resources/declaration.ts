import type { z } from 'zod';
import type { Role } from '../domain/identity/roles.ts';
import type { Permission } from '../http/permissions.ts';
import type { EventFamily, EventOf, Recorded } from '../kernel/event.ts';
import type { Failure } from '../kernel/failure.ts';
import type { Fields, SecretField, Values } from './fields.ts';

export type Verb = 'list' | 'create' | 'read' | 'update' | 'delete';

interface Declared<F extends Fields> {
  /** The tag of its section in the API's description. */
  readonly area: string;
  readonly path: string;
  readonly access: { readonly read: Permission; readonly write: Permission };
  /** Name of the table, and of the read model behind it. */
  readonly table: string;
  /** Of the read model: one more whenever a field is added, dropped or changes its type. */
  readonly version: number;
  readonly fields: F;
  /** A rule about the record as a whole, asked before it is created or changed. */
  readonly rule?: (values: Values<F>) => Failure | undefined;
  /** What extensions poll depends on it: a change gives the tenant a new policy version (`projections/policies/policy-versions.ts`). */
  readonly toldToExtensions?: boolean;
}

/** The read models that a writer's answer waits for. */
export const freshenedBy = ({ table, toldToExtensions }: { readonly table: string; readonly toldToExtensions?: boolean }): readonly string[] =>
  toldToExtensions ? [table, 'policy_versions'] : [table];

/** Many records of one kind: whitelist entries, canary cookies, signatures. */
export interface CollectionDeclaration<Noun extends string, F extends Fields, T extends TrackedFields> extends Declared<F> {
  /** `canaryCookie`: the stream category, and the events `CanaryCookieCreated`, `…Updated`, `…Deleted`. */
  readonly noun: Noun;
  /** What the list is called in an answer. */
  readonly list: string;
  /** Name of the path parameter of one record. */
  readonly parameter: string;
  readonly verbs: readonly Verb[];
  /** Fields that together are one record's alone in a tenant. Text is compared without case. */
  readonly unique?: readonly (readonly (keyof F & string)[])[];
  /** Fields that a list may be narrowed by. */
  readonly filters?: readonly (keyof F & string)[];
  /** Lists come in pages; otherwise whole, as `{ <list>, total }` (choice OP-003). */
  readonly paged?: boolean;
  /** Fields that these roles see as null. */
  readonly hidden?: { readonly [Name in keyof F]?: readonly Role[] };
  readonly showsCreator?: boolean;
  readonly tracked?: Tracked<T>;
}

/** One record a tenant, there from the start with its defaults: settings. */
export interface SingletonDeclaration<Noun extends string, F extends SettingFields, A extends Apart<F>> extends Declared<F> {
  /** `tenantSettings`: the stream category, and the event `TenantSettingsUpdated`. */
  readonly noun: Noun;
  /** Fields whose change is an event of its own, because it means more than a setting that was set. */
  readonly apart?: A;
  readonly showsEditor?: boolean;
}

/** A setting has a default from the start, or is a secret that is not there yet. */
export type SettingFields = Readonly<Record<string, z.ZodDefault | SecretField>>;
export type Apart<F extends Fields> = Readonly<Record<string, { readonly fields: readonly (keyof F & string)[]; readonly audit: string }>>;

export type TrackedFields = Readonly<Record<string, z.ZodDefault>>;
type TrackedValues<T extends TrackedFields> = { readonly [Name in keyof T]: z.output<T[Name]> };

/** What a record's answers show besides its own fields: things that other events report, and nobody sets. */
export interface Tracked<T extends TrackedFields> {
  readonly fields: T;
  readonly from: readonly EventFamily[];
  readonly on: Readonly<Record<string, (event: never) => TrackedChange<T>>>;
}

export interface TrackedChange<T extends TrackedFields> {
  /** The record that the event is about. */
  readonly id: string;
  readonly change: (now: TrackedValues<T>) => Partial<TrackedValues<T>>;
}

export const tracked = <const T extends TrackedFields, const Families extends readonly EventFamily[]>(declared: {
  readonly fields: T;
  readonly from: Families;
  readonly on: {
    readonly [Type in EventOf<Families[number]>['type']]?: (
      event: Recorded<Extract<EventOf<Families[number]>, { type: Type }>>,
    ) => TrackedChange<T>;
  };
}): Tracked<T> => declared as Tracked<T>;
