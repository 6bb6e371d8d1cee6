import type { EventDefinition } from '../kernel/event.ts';

type Data = Record<string, unknown>;

/** Replaces a personal value in the clear part of an event. */
export const SEALED = '[sealed]';

/**
 * The personal fields of one event type: `email`, or `observations[].username` for a field of every list item. A value
 * is any JSON; its marker is always a string. `take` moves the values out of the data, `put` puts them (or one marker
 * for all) back.
 */
export class PersonalFields {
  readonly subject: string;
  readonly #paths: readonly { readonly list?: string; readonly field: string }[];

  constructor({ subject, fields }: NonNullable<EventDefinition['personal']>) {
    this.subject = subject;
    this.#paths = fields.map((path) => {
      const [list, field] = path.split('[].') as [string, string | undefined];
      return field === undefined ? { field: list } : { list, field };
    });
  }

  /**
   * Returns a copy of the data without its personal values, and the values in order. Null and absent fields stay as
   * they are.
   */
  take(data: Data): { clear: Data; values: unknown[] } {
    const clear = { ...data };
    const values: unknown[] = [];
    this.#eachHolder(clear, (holder, field) => {
      const value = holder[field];
      if (value === null || value === undefined) return;
      values.push(value);
      holder[field] = SEALED;
    });
    return { clear, values };
  }

  /**
   * Puts values back in the order in which they were taken, or `marker` everywhere, and returns how many it replaced.
   * Changes `data` itself but copies its lists: data that a store holds is never changed.
   */
  put(data: Data, values: readonly unknown[] | { marker: string }): number {
    let next = 0;
    this.#eachHolder(data, (holder, field) => {
      if (holder[field] !== SEALED) return;
      holder[field] = 'marker' in values ? values.marker : values[next];
      next += 1;
    });
    return next;
  }

  #eachHolder(data: Data, visit: (holder: Data, field: string) => void): void {
    const copied = new Set<string>();
    for (const { list, field } of this.#paths) {
      if (list === undefined) {
        visit(data, field);
        continue;
      }
      const items = data[list] as Data[] | null | undefined;
      if (!items) continue; // absent stays absent
      // Only the first path of a list copies its items; later ones find the copies.
      const own = copied.has(list) ? items : items.map((item) => ({ ...item }));
      copied.add(list);
      data[list] = own;
      for (const item of own) visit(item, field);
    }
  }
}
