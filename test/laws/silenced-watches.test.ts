import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { whenAccountControlChangesRaiseAlert } from '../../src/contexts/alerts/reactions/when-account-control-changes-raise-alert.ts';
import { families } from '../../src/contexts/families.ts';
import { resources } from '../../src/contexts/resources.ts';
import { jsonSchema } from '../../src/app/http/openapi/json-schema.ts';
import { capitalized } from '../../src/platform/resources/names.ts';
import { defaultOf, type Field } from '../../src/platform/resources/fields.ts';
import type { JsonSchema } from '../dsl/body-fields.ts';
import { FREE_FIELDS, NO_WATCH, WATCHED_BY_HAND } from './silenced-watches.ts';

type Values = Readonly<Record<string, unknown>>;
interface Watching {
  readonly noun: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly watch: { silences(before: Values, after: Values | undefined): boolean } | undefined;
}
interface Lever {
  readonly noun: string;
  readonly name: string;
  readonly values: readonly unknown[];
  /** A record that is on, as far as it can be: what is off cannot be silenced. */
  readonly on: Values;
  readonly silences: (before: Values, after: Values) => boolean;
}

const declared = resources.map((resource) => resource.declared as unknown as Watching);
const watching = declared.filter(({ watch }) => watch !== undefined);

type Described = JsonSchema & { type?: string; enum?: unknown[]; minimum?: number; maximum?: number };

/** Values that a field can have: what switches something on and off, chooses, is soon or late, short or long, or differs. */
function choices(field: Field): unknown[] {
  const choose = (schema: Described): unknown[] => {
    if (schema.anyOf) return schema.anyOf.flatMap((one) => choose(one));
    if (schema.enum) return schema.enum;
    if (schema.type === 'boolean') return [true, false];
    if (schema.type === 'null') return [null];
    if (schema.type === 'array') return [[], ...choose(schema.items ?? {}).map((item) => [item])];
    if (schema.type === 'integer' || schema.type === 'number')
      return [schema.minimum ?? 1, schema.maximum ?? 1_000_000];
    if (schema.format === 'uuid')
      return ['0198a000-0000-7000-8000-000000000001', '0198a000-0000-7000-8000-000000000002'];
    if (schema.format === 'date') return ['2026-01-05', '2199-12-31'];
    if (schema.type === 'string') return ['one', 'another'];
    return [];
  };
  return 'kind' in field ? [] : choose(jsonSchema(field as z.ZodType, 'output') as Described);
}

const leversOf = ({ noun, fields, watch }: Watching): Lever[] => {
  const usual = Object.entries(fields).map(([name, field]) => [name, defaultOf(field)] as const);
  const on = Object.fromEntries(usual.map(([name, value]) => [name, typeof value === 'boolean' ? true : value]));
  return Object.entries(fields)
    .map(([name, field]) => ({ noun, name, values: choices(field), on, silences: watch!.silences.bind(watch) }))
    .filter(({ values }) => values.length > 1);
};
const byHand = Object.values(WATCHED_BY_HAND).filter((one) => typeof one !== 'string');
const levers = [
  ...watching.flatMap(leversOf),
  ...byHand.flatMap(({ noun, on, values, silences }) =>
    Object.entries(values).map(([name, tried]): Lever => ({ noun, name, values: tried, on, silences })),
  ),
];

/** Decision 0150: whatever makes people hear of less needs a proof and raises an alert. */
describe('a declared record', () => {
  it('keeps a watch, or says why nothing of it does', () => {
    const unsaid = declared.filter(({ noun, watch }) => (watch === undefined) !== noun in NO_WATCH);
    expect(
      unsaid.map(({ noun }) => noun),
      'declare `watch`, or state in test/laws/silenced-watches.ts why no change of it makes people hear of less',
    ).toEqual([]);
  });

  it.each(levers.map((lever) => [`${lever.noun}.${lever.name}`, lever] as const))(
    '%s silences the watch by one of its values, or says why it does not',
    (field, { name, values, on, silences: isSilenced }) => {
      const silences = values.some((from) =>
        values.some((to) => from !== to && isSilenced({ ...on, [name]: from }, { ...on, [name]: to })),
      );
      expect([field, silences]).toEqual([field, !(field in FREE_FIELDS)]);
    },
  );

  it.each(watching.map((one) => [one.noun, one] as const))('%s raises an alert when its watch is silenced', (noun) => {
    const name = capitalized(noun);
    const handled = Object.keys(whenAccountControlChangesRaiseAlert.on);
    expect(handled).toContain(`${name}Updated`);
    const resource = resources.find((one) => one.declared.noun === noun)!;
    if (`${name}Deleted` in resource.events.definitions) expect(handled).toContain(`${name}Deleted`);
  });

  it.each(byHand.map((one) => [one.noun, one] as const))('%s, declared by hand, names each of its fields', (_, one) => {
    expect(Object.keys(one.values).toSorted()).toEqual(Object.keys(one.schema.shape).toSorted());
    expect(one.schema.safeParse(one.on).error).toBeUndefined();
  });

  it('shares the table with every event by which a watch is silenced', () => {
    const marked = families.flatMap(({ definitions }) =>
      Object.entries(definitions as Readonly<Record<string, { schema: { shape?: object } }>>)
        .filter(([, { schema }]) => 'isSilenced' in (schema.shape ?? {}))
        .map(([type]) => type),
    );
    const fromDeclared = watching.flatMap(({ noun }) => [`${capitalized(noun)}Updated`, `${capitalized(noun)}Deleted`]);
    const unsaid = marked.filter((type) => !fromDeclared.includes(type) && !(type in WATCHED_BY_HAND));
    expect(unsaid, 'enter the event in WATCHED_BY_HAND').toEqual([]);
    expect(Object.keys(WATCHED_BY_HAND).filter((type) => !marked.includes(type))).toEqual([]);
  });

  it('has no reason for a record or field that does not exist', () => {
    const nouns = new Set(declared.map(({ noun }) => noun));
    expect(Object.keys(NO_WATCH).filter((noun) => !nouns.has(noun))).toEqual([]);
    const fields = new Set(levers.map(({ noun, name }) => `${noun}.${name}`));
    expect(Object.keys(FREE_FIELDS).filter((field) => !fields.has(field))).toEqual([]);
  });
});
