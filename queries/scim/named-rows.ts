import type { Filter } from '../../src/contexts/scim/domain/filter.ts';
import { resolvePath } from '../../src/contexts/scim/domain/resolve-path.ts';
import type { ScimTable } from './scim-table.ts';

interface Named {
  readonly attribute: string;
  readonly value: string;
}

/**
 * SQL of the rows that have one of the names in a filter (`table.naming`), each found by its index; undefined if the
 * filter also finds others. The filter still has to be applied to them. Adds to `parameters`.
 */
export function namedRows(table: ScimTable, filter: Filter, parameters: unknown[]): string | undefined {
  const named = namesIn(table, filter);
  if (!named) return undefined;
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const ids = named.map(({ attribute, value }) => `(${table.naming[attribute]!(value, parameter)})`);
  return `(${ids.join(' union ')}) as named(id) cross join lateral (${table.byId('named.id')})`;
}

/** What every match has as one of its names: any part of an `and`, every part of an `or`. */
function namesIn(table: ScimTable, filter: Filter): readonly Named[] | undefined {
  switch (filter.op) {
    case 'and':
      return filter.filters.map((each) => namesIn(table, each)).find((names) => names !== undefined);
    case 'or': {
      const parts = filter.filters.map((each) => namesIn(table, each));
      return parts.some((names) => names === undefined) ? undefined : parts.flatMap((names) => names!);
    }
    case 'eq':
      return namedBy(table, filter.path, filter.value);
    case 'some': {
      const [value] = valuesOf(filter.where);
      return namedBy(table, filter.path, value);
    }
    default:
      return undefined;
  }
}

function namedBy(table: ScimTable, path: Parameters<typeof resolvePath>[1], value: unknown) {
  const { extension, attribute, sub } = resolvePath(table.type, path) ?? {};
  if (!attribute || extension !== undefined || typeof value !== 'string') return undefined;
  const isName = attribute.name in table.naming && (sub === undefined || sub.name === 'value');
  return isName ? [{ attribute: attribute.name, value }] : undefined;
}

/** The texts that `value` has to be equal to, for a filter among the values of a list. */
function valuesOf(filter: Filter): readonly string[] {
  if (filter.op === 'and') return filter.filters.flatMap(valuesOf);
  const isOfValue = filter.op === 'eq' && filter.path.attribute.toLowerCase() === 'value';
  return isOfValue && typeof filter.value === 'string' ? [filter.value] : [];
}
