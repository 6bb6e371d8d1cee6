import type { EventFamily, Recorded } from '../kernel/event.ts';
import { at, id, nullable, timestamp, type AnyReadModel, type Column } from '../kernel/read-model.ts';
import { eventTypes, type AnyCollection } from './collection-events.ts';
import { columnOf } from './contract.ts';
import { keptName, type AnyValues, type Fields } from './fields.ts';
import { snakeCase } from './names.ts';

export const columnsOf = (fields: Fields): Record<string, Column> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [snakeCase(keptName(name, field)), columnOf(field)]));

export const asColumns = (values: AnyValues): AnyValues => Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));

/** Reads fields back out of a row. */
export const fromColumns = (names: readonly string[], row: AnyValues): AnyValues => Object.fromEntries(names.map((name) => [name, row[snakeCase(name)]]));

type Fold = (row: AnyValues | undefined) => AnyValues | undefined;

export function collectionModel(declared: AnyCollection, events: EventFamily): AnyReadModel {
  const { noun, fields, table, version, tracked, filters = [] } = declared;
  const types = eventTypes(noun);
  const untouched = asColumns(Object.fromEntries(Object.entries(tracked?.fields ?? {}).map(([name, field]) => [name, field.def.defaultValue])));
  const step = (record: string, fold: Fold) => ({ key: { id: record }, fold });
  const onRecord = (change: (event: Recorded, values: AnyValues) => Fold) => (event: Recorded) => {
    const { id: record, ...values } = event.data as AnyValues;
    return step(record as string, change(event, values));
  };

  const own = {
    [types.created]: onRecord((event, values) => () => {
      const { id: creator } = event.metadata.actor;
      return { ...asColumns(values), ...untouched, created_by: creator, created_at: at(event), updated_at: at(event) };
    }),
    [types.updated]: onRecord((event, values) => (row) => row && { ...row, ...asColumns(values), updated_at: at(event) }),
    [types.deleted]: onRecord(() => () => undefined),
  };
  const others = Object.fromEntries(
    Object.entries(tracked?.on ?? {}).map(([type, concern]) => [
      type,
      (event: Recorded) => {
        const { id: record, change } = concern(event as never);
        const now = (row: AnyValues) => fromColumns(Object.keys(tracked!.fields), row) as never;
        return step(record, (row) => row && { ...row, ...asColumns(change(now(row))) });
      },
    ]),
  );

  return {
    name: table,
    version,
    lane: 'main',
    columns: { id, ...columnsOf(fields), ...columnsOf(tracked?.fields ?? {}), created_by: nullable(id), created_at: timestamp, updated_at: timestamp },
    key: ['id'],
    indexes: [['created_at desc', 'id'], ...filters.map((name) => [snakeCase(name), 'created_at desc'])],
    families: [events, ...(tracked?.from ?? [])],
    on: { ...own, ...others },
  };
}
