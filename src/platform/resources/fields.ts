import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** Stored in the vault. Events and rows hold its reference; responses show only whether it is set. */
export interface SecretField {
  readonly kind: 'secret';
  readonly schema: z.ZodType<string, string>;
  /** Fields with the address to which the service sends it. A change of one of them does not keep the stored secret. */
  readonly sentTo: readonly string[];
}

/** Generated when the record is created; a caller can read it but not write it. */
export interface GeneratedField<Schema extends z.ZodType = z.ZodType> {
  readonly kind: 'made';
  readonly schema: Schema;
  readonly make: () => z.output<Schema>;
}

/**
 * A zod schema is a field that callers read and write. With a default it may be left out when the record is created.
 */
export type Field = z.ZodType | SecretField | GeneratedField;
export type Fields = Readonly<Record<string, Field>>;

const SECRET_CHARACTERS = 4_096;

/** Write-only: kept when left out, removed by `null`, shown as `<name>Configured`. */
export const secret = (
  schema: z.ZodType<string, string> = z.string().min(1).max(SECRET_CHARACTERS),
  { sentTo = [] }: Partial<Pick<SecretField, 'sentTo'>> = {},
): SecretField => ({
  kind: 'secret',
  schema,
  sentTo,
});
export const generated = <Schema extends z.ZodType>(
  schema: Schema,
  make: () => z.output<Schema>,
): GeneratedField<Schema> => ({
  kind: 'made',
  schema,
  make,
});

export const isSecret = (field: Field): field is SecretField => 'kind' in field && field.kind === 'secret';
export const isGenerated = (field: Field): field is GeneratedField => 'kind' in field && field.kind === 'made';
export const isWritable = (field: Field): field is z.ZodType => !('kind' in field);

type Flat<T> = { [Key in keyof T]: T[Key] };
type ValueOf<F extends Field> =
  F extends GeneratedField<infer Schema> ? z.output<Schema> : F extends z.ZodType ? z.output<F> : never;
type Plain<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends SecretField ? never : Name]: ValueOf<F[Name]>;
};
type SecretNames<F extends Fields> = {
  [Name in keyof F & string]: F[Name] extends SecretField ? Name : never;
}[keyof F & string];

/** A record in events and decisions: `tokenRef` where `token` is a secret. */
export type Values<F extends Fields> = Flat<
  Plain<F> & { readonly [Name in SecretNames<F> as `${Name}Ref`]: string | null }
>;

/** A record's own fields in a response. */
export type ShownFields<F extends Fields> = Flat<
  Plain<F> & { readonly [Name in SecretNames<F> as `${Name}Configured`]: boolean }
>;

/** The caller's input for a new record, validated and completed. A secret that is left out or null is not set. */
export type RecordDraft<F extends Fields> = Flat<
  { readonly [Name in keyof F as F[Name] extends z.ZodType ? Name : never]: ValueOf<F[Name]> } & {
    readonly [Name in SecretNames<F>]?: string | null | undefined;
  }
>;

/** The caller's input for an existing record. */
export type RecordChanges<F extends Fields> = Partial<RecordDraft<F>>;

/** Inside the engine, field names are data; a definition restores their types at its edge. */
export type AnyValues = Readonly<Record<string, unknown>>;

/** The names in events, rows and state: `value` stays `value`, the secret `token` becomes `tokenRef`. */
export const storedName = (name: string, field: Field): string => (isSecret(field) ? `${name}Ref` : name);

/** The values of all fields that have one, under their stored names. */
export const valuesOf = (fields: Fields, valueOf: (field: Field, name: string) => unknown): AnyValues =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, field]) => [storedName(name, field), valueOf(field, name)] as const)
      .filter(([, value]) => value !== undefined),
  );

/** A field's value when the caller gives none; undefined if it is required. */
export const defaultOf = (field: Field): unknown =>
  isSecret(field)
    ? null
    : isGenerated(field)
      ? field.make()
      : field instanceof z.ZodDefault
        ? field.def.defaultValue
        : undefined;

export const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;

/** The given values that differ from the current ones. */
export const changedValues = (before: AnyValues, given: AnyValues): AnyValues =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isDeepStrictEqual(before[name], value)));
