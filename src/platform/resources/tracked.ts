import type { z } from 'zod';
import type { EventFamily, EventOf, RecordedEvent } from '../kernel/event.ts';

export type TrackedFields = Readonly<Record<string, z.ZodDefault>>;
type TrackedValues<T extends TrackedFields> = { readonly [Name in keyof T]: z.output<T[Name]> };

/** Values in a record's responses that other events report, and that no caller can set. */
export interface Tracked<T extends TrackedFields> {
  readonly fields: T;
  readonly from: readonly EventFamily[];
  readonly on: Readonly<Record<string, (event: never) => TrackedChange<T>>>;
}

export interface TrackedChange<T extends TrackedFields> {
  /** The record that the event is about. */
  readonly id: string;
  readonly change: (now: TrackedValues<T>) => Partial<TrackedValues<T>>;
}

export const tracked = <const T extends TrackedFields, const Families extends readonly EventFamily[]>(declared: {
  readonly fields: T;
  readonly from: Families;
  readonly on: {
    readonly [Type in EventOf<Families[number]>['type']]?: (
      event: RecordedEvent<Extract<EventOf<Families[number]>, { type: Type }>>,
    ) => TrackedChange<T>;
  };
}): Tracked<T> => declared as Tracked<T>;
