/** A name of letters and digits, and a text. */
export type FlatField = readonly [name: string, value: string];

const MAX_FIELDS = 100;
const MAX_VALUE = 2_048;
const MAX_DEPTH = 4;

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const isPlain = (name: string): boolean => /^[A-Za-z0-9]+$/.test(name);
const named = (path: string, name: string): string => {
  const plain = isPlain(name) ? name : name.replaceAll(/[^A-Za-z0-9]/g, '');
  return path === '' ? plain : path + capitalized(plain);
};
const cut = (text: string): string => (text.length > MAX_VALUE ? text.slice(0, MAX_VALUE).toWellFormed() : text);

/**
 * The members of a record's data as pairs, for formats without structure: `details.config.host` becomes
 * `detailsConfigHost`. Lists of plain values are joined with commas, others become JSON. Nulls are left out. Bounded.
 */
export function flatFields(data: object): FlatField[] {
  const fields: FlatField[] = [];
  collect(fields, '', data, 0);
  return fields;
}

function collect(fields: FlatField[], path: string, data: object, depth: number): void {
  for (const [name, value] of Object.entries(data)) {
    if (fields.length >= MAX_FIELDS) return;
    if (value === null || value === undefined || value === '') continue;
    const at = named(path, name);
    if (at === '') continue;
    if (typeof value !== 'object') fields.push([at, cut(String(value))]);
    else if (Array.isArray(value)) {
      if (value.length > 0) fields.push([at, cut(listed(value))]);
    } else if (depth < MAX_DEPTH) collect(fields, at, value as object, depth + 1);
    else fields.push([at, cut(JSON.stringify(value))]);
  }
}

const listed = (values: readonly unknown[]): string =>
  values.every((value) => typeof value !== 'object') ? values.join(',') : JSON.stringify(values);

/** C0 and C1 controls, and Unicode's line separators: a receiver that splits lines must find none. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
export const oneLine = (text: string): string => text.replaceAll(CONTROLS, ' ');
