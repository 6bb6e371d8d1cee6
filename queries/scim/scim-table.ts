import type { ScimResourceType } from '../../src/contexts/scim/domain/schema.ts';

/** How the rows of a list hold the attributes of its resources. All texts here are SQL of this service. */
export interface ScimTable {
  readonly type: ScimResourceType;
  /** Attributes with columns of their own, by name: `userName`, `meta.lastModified`. */
  readonly columns: Readonly<Record<string, ScimColumn>>;
  /** The JSON with all other attributes; undefined: there are none. */
  readonly profile?: string;
  /** Lists that are no part of the row: SQL of a set of rows with one JSON column `v`. */
  readonly lists: Readonly<Record<string, string>>;
  /** Conditions that an index answers, by list: all that `value eq` means. */
  readonly indexed?: Readonly<Record<string, WithValue>>;
  /** What an attribute with a value names: SQL of the ids of its few rows, or of more than those. */
  readonly naming: Readonly<Record<string, WithValue>>;
  /** SQL of the row with the id that is given as SQL. */
  readonly byId: (id: string) => string;
}

type WithValue = (value: string, parameter: (value: unknown) => string) => string;

export interface ScimColumn {
  readonly sql: string;
  /** The column holds the text in NFC and lower case. */
  readonly isFolded?: true;
  /** The column is of the type `uuid`. Its text is the value. */
  readonly isUuid?: true;
}

/** What is the same for every resource of a type. Every resource has `meta`. */
export const columnsOfType = ({ name }: ScimResourceType): Readonly<Record<string, ScimColumn>> => ({
  meta: { sql: "'{}'::text" },
  'meta.resourceType': { sql: `'${name}'::text` },
});

/** A column with the number of a version, as the entity tag that clients are shown (`versionTag`). */
export const versionColumn = (column: string): ScimColumn => ({ sql: `('W/"' || ${column} || '"')` });

export const columnText = ({ sql, isUuid }: ScimColumn): string => (isUuid ? `${sql}::text` : sql);
