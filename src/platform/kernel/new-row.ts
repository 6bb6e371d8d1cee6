import type { EventFamily, RecordedEvent } from './event.ts';
import type { Change, Columns, ReadModel, RowChange, RowOf } from './read-model.ts';

/**
 * The row that these events alone make: a new record, for a response that does not wait for the read side. Undefined if
 * they make none.
 */
export function newRow<C extends Columns, Key extends keyof C & string, Families extends readonly EventFamily[]>(
  model: ReadModel<C, Key, Families>,
  key: Pick<RowOf<C>, Key>,
  events: readonly RecordedEvent[],
): RowOf<C> | undefined {
  type Changes = Change<RowOf<C>, Key> | readonly Change<RowOf<C>, Key>[];
  // Handlers are typed by the events of their families. An event of another family finds no handler.
  const handlers = model.on as unknown as Readonly<Record<string, ((event: RecordedEvent) => Changes) | undefined>>;
  const concerns = (change: Change<RowOf<C>, Key>): change is RowChange<RowOf<C>, Key> =>
    'key' in change && model.key.every((name) => change.key[name] === key[name]);
  let row: RowOf<C> | undefined;
  for (const event of events)
    for (const change of [handlers[event.type]?.(event) ?? []].flat() as Change<RowOf<C>, Key>[])
      if (concerns(change)) row = change.fold(row);
  return row;
}
