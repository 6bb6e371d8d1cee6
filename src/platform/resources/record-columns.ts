import type { Column } from '../kernel/read-model.ts';
import { storedName, type AnyValues, type Fields } from './fields.ts';
import { columnOf } from './lasting-type.ts';
import { snakeCase } from './names.ts';

export const columnsOf = (fields: Fields): Record<string, Column> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [snakeCase(storedName(name, field)), columnOf(field)]),
  );

export const toColumns = (values: AnyValues): AnyValues =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));

/** Reads values from a row, under their stored names. */
export const fromColumns = (names: readonly string[], row: AnyValues): AnyValues =>
  Object.fromEntries(names.map((name) => [name, row[snakeCase(name)]]));

export const storedNames = (fields: Fields): string[] =>
  Object.entries(fields).map(([name, field]) => storedName(name, field));
