import { z } from 'zod';
import type { Aggregate } from '../kernel/aggregate.ts';
import type { DomainEvent, EventDefinition, EventFamily } from '../kernel/event.ts';
import { uuid } from '../kernel/ids.ts';
import { contentSchema } from './contract.ts';
import type { CollectionDeclaration, TrackedFields } from './declaration.ts';
import type { AnyValues, Fields, Values } from './fields.ts';
import { capitalized, snakeCase } from './names.ts';

/** `CanaryCookieCreated` carries the whole record, `…Updated` what changed, `…Deleted` its id. */
export type CollectionEvents<Noun extends string, F extends Fields> = EventFamily<
  { readonly [Type in `${Capitalize<Noun>}Created`]: EventDefinition<z.ZodType<{ readonly id: string } & Values<F>>> } & {
    readonly [Type in `${Capitalize<Noun>}Updated`]: EventDefinition<z.ZodType<{ readonly id: string } & Partial<Values<F>>>>;
  } & { readonly [Type in `${Capitalize<Noun>}Deleted`]: EventDefinition<z.ZodType<{ readonly id: string }>> }
>;

export interface RecordState<V> {
  readonly exists: boolean;
  readonly values: V;
}

export type AnyCollection = CollectionDeclaration<string, Fields, TrackedFields>;

export const eventTypes = (noun: string) => {
  const name = capitalized(noun);
  return { created: `${name}Created`, updated: `${name}Updated`, deleted: `${name}Deleted` };
};

export function collectionEvents({ noun, fields }: AnyCollection): EventFamily {
  const { created, updated, deleted } = eventTypes(noun);
  const audit = snakeCase(noun);
  const id = uuid();
  return {
    category: noun,
    definitions: {
      [created]: { version: 1, schema: z.object({ id, ...contentSchema(fields, 'whole') }), audit: `${audit}.created` },
      [updated]: { version: 1, schema: z.object({ id, ...contentSchema(fields, 'changed') }), audit: `${audit}.updated` },
      [deleted]: { version: 1, schema: z.object({ id }), audit: `${audit}.deleted` },
    },
  };
}

const NONE: RecordState<AnyValues> = { exists: false, values: {} };

export function recordAggregate({ noun }: AnyCollection): Aggregate<RecordState<AnyValues>, DomainEvent> {
  const { created, updated, deleted } = eventTypes(noun);
  return {
    category: noun,
    initial: NONE,
    fold(state, { type, data }) {
      if (type === deleted) return { ...state, exists: false };
      if (type !== created && type !== updated) return state;
      const { id: _, ...values } = data as AnyValues;
      return { exists: true, values: { ...state.values, ...values } };
    },
  };
}
