import type { RoleName } from './access-words.ts';
import type { AnyCollection, AnySingleton } from './declaration.ts';
import { isSecret, storedName, type AnyValues, type Fields } from './fields.ts';
import { shownName } from './schemas.ts';

/** For a secret, a response shows only whether it is set. */
const shownValues = (fields: Fields, kept: AnyValues): [string, unknown][] =>
  Object.entries(fields).map(([name, field]) => {
    const value = kept[storedName(name, field)];
    return [shownName(name, field), isSecret(field) ? value !== null : value];
  });

export const shownRecord = (fields: Fields, kept: AnyValues): AnyValues =>
  Object.fromEntries(shownValues(fields, kept));

/**
 * The part of a record's view that identifies its state: what a caller can write and every role can see. Of a secret,
 * whether it is set.
 */
export function taggedOf(
  { fields, hidden = {} }: { readonly fields: Fields; readonly hidden?: object | undefined },
  view: AnyValues,
): AnyValues {
  const names = Object.entries(fields)
    .filter(([name]) => !(name in hidden))
    .map(([name, field]) => shownName(name, field));
  return Object.fromEntries(names.map((name) => [name, view[name]]));
}

/** A record as this role may see it. */
export function recordView(
  { fields, tracked, hidden = {}, showsCreator }: AnyCollection,
  kept: AnyValues,
  role: RoleName,
): AnyValues {
  const veiled = (name: string) => (hidden as Readonly<Record<string, readonly RoleName[]>>)[name]?.includes(role);
  const { id, createdBy, createdAt, updatedAt } = kept;
  return {
    id,
    ...Object.fromEntries(shownValues(fields, kept).map(([name, value]) => [name, veiled(name) ? null : value])),
    ...Object.fromEntries(shownValues(tracked?.fields ?? {}, kept)),
    ...(showsCreator ? { createdBy } : {}),
    createdAt,
    updatedAt,
  };
}

export function settingsView({ fields, showsEditor }: AnySingleton, kept: AnyValues): AnyValues {
  const { updatedAt, updatedBy } = kept;
  return { ...Object.fromEntries(shownValues(fields, kept)), updatedAt, ...(showsEditor ? { updatedBy } : {}) };
}
