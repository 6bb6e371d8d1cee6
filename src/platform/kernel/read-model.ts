import type { EventFamily, EventOf, RecordedEvent } from './event.ts';
import type { ReadModelName } from './read-model-name.ts';

/**
 * Columns as data: the SQL type for the table, the TypeScript type for the fold. Timestamps are ISO 8601 strings (UTC,
 * milliseconds) in both, so that a row is identical live, rebuilt and in a diff.
 */
export interface Column<T = unknown> {
  readonly sql:
    'uuid' | 'text' | 'integer' | 'bigint' | 'double precision' | 'boolean' | 'timestamptz' | 'jsonb' | 'date';
  readonly nullable: boolean;
  /** Phantom: carries the value's type. */
  readonly value?: T;
}

const column = <T>(sql: Column['sql']): Column<T> => ({ sql, nullable: false });
export const id = column<string>('uuid');
export const text = column<string>('text');
export const integer = column<number>('integer');
export const bigint = column<number>('bigint');
export const real = column<number>('double precision');
export const flag = column<boolean>('boolean');
export const timestamp = column<string>('timestamptz');
/** A calendar day in UTC, `YYYY-MM-DD`. */
export const day = column<string>('date');
export const json = <T>(): Column<T> => column<T>('jsonb');
export const nullable = <T>(inner: Column<T>): Column<T | null> => ({ sql: inner.sql, nullable: true });

export type Columns = Readonly<Record<string, Column>>;
export type RowOf<C extends Columns> = { [Name in keyof C]: C[Name] extends Column<infer T> ? T : never };

/** A change to one row: `fold` gets the current row (or undefined) and returns the new row; undefined deletes it. */
export interface RowChange<Row, Key extends keyof Row> {
  readonly key: Pick<Row, Key>;
  readonly fold: (row: Row | undefined) => Row | undefined;
  /**
   * This event creates the id in the row's key. No earlier event can have made the row, so it is not looked up.
   * Gain: `npm run bench -- without row-begins`: 1.07 (95 %: 1.05 to 1.15) when 8 clients create employees; the figure
   * that needs it is that of creations over SCIM (decision 0072).
   */
  readonly begins?: true;
  /**
   * Only this event folds the row: no earlier and no later one. The row is neither looked up nor cached.
   * Gain: `npm run bench -- without row-once resolve-32`: 1.11 (95 %: 1.01 to 1.17).
   */
  readonly once?: true;
}
/** In a purge: matches every value of a text column that contains this text. Scans all rows of the tenant. */
export class Containing {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
/** Deletes all rows of the event's tenant in which these columns have these values. Used for erasure. */
export interface Purge<Row> {
  readonly purge: { readonly [Name in keyof Row]?: Row[Name] | Containing };
}
export type Change<Row, Key extends keyof Row> = RowChange<Row, Key> | Purge<Row>;

export type Lane = 'main' | 'telemetry';

type TypeOf<Families extends readonly EventFamily[]> = EventOf<Families[number]>['type'];
type NamedEvent<Families extends readonly EventFamily[], Type> = Extract<EventOf<Families[number]>, { type: Type }>;

type Handlers<Families extends readonly EventFamily[], Answer> = {
  readonly [Type in TypeOf<Families>]?: (event: RecordedEvent<NamedEvent<Families, Type>>) => Answer;
};

/**
 * A versioned, pure fold by key. The projector does all I/O. It adds `tenant_id` as first column of table and key, so a
 * model cannot reach another tenant's rows. Changed columns or a changed fold need a higher version.
 */
export interface ReadModel<
  C extends Columns = Columns,
  Key extends keyof C & string = keyof C & string,
  Families extends readonly EventFamily[] = readonly EventFamily[],
> {
  readonly name: string;
  readonly version: number;
  readonly lane: Lane;
  /** Whether rows belong to the event's tenant, or to the installation (a directory of tenants). */
  readonly scope?: 'tenant' | 'installation';
  readonly columns: C;
  readonly key: readonly Key[];
  /** Column lists after `tenant_id`, or whole expressions after `create index on <table>`. */
  readonly indexes?: readonly (readonly string[] | string)[];
  readonly families: Families;
  readonly on: Handlers<Families, Change<RowOf<C>, Key> | readonly Change<RowOf<C>, Key>[]>;
  /**
   * What to do with an event that cannot be folded. `halt` (security-critical models) stops the model; `park` skips the
   * event's stream.
   */
  readonly onFoldFailure?: 'park' | 'halt';
}

export const defineReadModel = <
  const C extends Columns,
  const Key extends keyof C & string,
  const Families extends readonly EventFamily[],
  const Name extends string,
>(
  model: ReadModel<C, Key, Families> & Named<Name>,
): ReadModel<C, Key, Families> & Named<Name> => model;

interface Named<Name extends string> {
  readonly name: Name;
}

/**
 * Changes the row with this value in the key column, if it exists. The fold returns undefined to delete the row. For
 * models whose key is one column: `const change = changeExisting<AlertRow>()('alert_id')`.
 */
export const changeExisting =
  <R>() =>
  <Name extends keyof R & string>(column: Name) =>
  (value: R[Name], fold: (row: R) => R | undefined): RowChange<R, Name> => ({
    key: { [column]: value } as Pick<R, Name>,
    fold: (row) => row && fold(row),
  });

/** The row type of a model, for its queries: `Row<typeof alerts>`. */
export type Row<Model extends { columns: Columns }> = RowOf<Model['columns']>;

/** A model of unknown types, for the projector. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyReadModel = ReadModel<any, any, any>;

/** A model that commands may freshen and callers may wait for. */
export type NamedReadModel = AnyReadModel & Named<ReadModelName>;

let latest = { epochMs: 0, iso: new Date(0).toISOString() };
/** Events that were written together have the same time: most of a history is formatted once per group. */
function isoOf(epochMs: number): string {
  if (latest.epochMs !== epochMs) latest = { epochMs, iso: new Date(epochMs).toISOString() };
  return latest.iso;
}

/** The ISO timestamp of a recorded event. */
export const at = (event: { recordedAt: number }): string => isoOf(event.recordedAt);
export const dayOf = (epochMs: number): string => isoOf(epochMs).slice(0, 10);
