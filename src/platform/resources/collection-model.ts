import type { EventFamily, RecordedEvent } from '../kernel/event.ts';
import { at, id, integer, nullable, timestamp, type NamedReadModel } from '../kernel/read-model.ts';
import { valuesOf, defaultOf, type AnyValues } from './fields.ts';
import type { AnyCollection } from './declaration.ts';
import { snakeCase } from './names.ts';
import { withoutMark } from './silenced.ts';
import { columnsOf, fromColumns, toColumns } from './record-columns.ts';
import { derivedReadModelName } from '../kernel/read-model-name.ts';

type Fold = (row: AnyValues | undefined) => AnyValues | undefined;
const step = (record: unknown, fold: Fold) => ({ key: { id: record }, fold });

/** One row per record: its values, tracked values, creator and times. */
export function collectionModel(
  { fields, table, version, tracked, versioned, filters = [] }: AnyCollection,
  events: EventFamily,
): NamedReadModel {
  const [created, updated, deleted] = Object.keys(events.definitions) as [string, string, string];
  const untouched = toColumns(valuesOf(tracked?.fields ?? {}, defaultOf));
  const trackedNames = Object.keys(tracked?.fields ?? {});

  const own = {
    [created]: (event: RecordedEvent) => {
      const { slot: _, ...values } = event.data as AnyValues;
      const row = {
        ...toColumns(values),
        ...untouched,
        ...(versioned ? { version: 1 } : {}),
        created_by: event.metadata.actor.id,
        created_at: at(event),
        updated_at: at(event),
      };
      return step(values['id'], () => row);
    },
    [updated]: (event: RecordedEvent) => {
      const values = withoutMark(event.data as AnyValues);
      return step(
        values['id'],
        (row) =>
          row && {
            ...row,
            ...toColumns(values),
            ...(versioned ? { version: (row['version'] as number) + 1 } : {}),
            updated_at: at(event),
          },
      );
    },
    [deleted]: (event: RecordedEvent) => step((event.data as AnyValues)['id'], () => undefined),
  };
  const others = Object.entries(tracked?.on ?? {}).map(([type, concern]) => [
    type,
    (event: RecordedEvent) => {
      const { id: record, change } = concern(event as never);
      return step(record, (row) => row && { ...row, ...toColumns(change(fromColumns(trackedNames, row) as never)) });
    },
  ]);

  return {
    name: derivedReadModelName(table),
    version,
    lane: 'main',
    columns: {
      id,
      ...columnsOf(fields),
      ...columnsOf(tracked?.fields ?? {}),
      ...(versioned ? { version: integer } : {}),
      created_by: nullable(id),
      created_at: timestamp,
      updated_at: timestamp,
    },
    key: ['id'],
    indexes: [['created_at desc', 'id'], ...filters.map((name) => [snakeCase(name), 'created_at desc'])],
    families: [events, ...(tracked?.from ?? [])],
    on: { ...own, ...Object.fromEntries(others) },
  };
}
