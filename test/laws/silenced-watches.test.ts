import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { whenAccountControlChangesRaiseAlert } from '../../src/contexts/alerts/reactions/when-account-control-changes-raise-alert.ts';
import { resources } from '../../src/contexts/resources.ts';
import { jsonSchema } from '../../src/app/http/openapi/json-schema.ts';
import { capitalized } from '../../src/platform/resources/names.ts';
import { defaultOf, type Field } from '../../src/platform/resources/fields.ts';
import type { JsonSchema } from '../dsl/body-fields.ts';
import { FREE_FIELDS, NO_WATCH } from './silenced-watches.ts';

type Values = Readonly<Record<string, unknown>>;
interface Watching {
  readonly noun: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly watch: { silences(before: Values, after: Values | undefined): boolean } | undefined;
}

const declared = resources.map((resource) => resource.declared as unknown as Watching);
const watching = declared.filter(({ watch }) => watch !== undefined);

/** Values that a field can have, as far as its schema names them: those that switch something on and off, or choose. */
function choices(field: Field): unknown[] {
  const choose = (schema: JsonSchema & { type?: string; enum?: unknown[] }): unknown[] => {
    if (schema.anyOf) return schema.anyOf.flatMap((one) => choose(one));
    if (schema.enum) return schema.enum;
    if (schema.type === 'boolean') return [true, false];
    if (schema.type === 'null') return [null];
    if (schema.type === 'array') return [[], ...choose(schema.items ?? {}).map((item) => [item])];
    if (schema.format === 'uuid')
      return ['0198a000-0000-7000-8000-000000000001', '0198a000-0000-7000-8000-000000000002'];
    return [];
  };
  return 'kind' in field ? [] : choose(jsonSchema(field as z.ZodType, 'output') as JsonSchema);
}

const levers = watching.flatMap(({ noun, fields, watch }) =>
  Object.entries(fields)
    .map(([name, field]) => [name, choices(field)] as const)
    .filter(([, values]) => values.length > 1)
    .map(([name, values]) => ({ noun, name, values, fields, watch: watch! })),
);

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
    (field, { name, values, fields, watch }) => {
      const usual = Object.fromEntries(Object.entries(fields).map(([other, one]) => [other, defaultOf(one)]));
      // On, as far as it can be: what is off cannot be silenced.
      const on = Object.fromEntries(
        Object.entries(usual).map(([other, value]) => [other, typeof value === 'boolean' ? true : value]),
      );
      const silences = values.some((from) =>
        values.some((to) => from !== to && watch.silences({ ...on, [name]: from }, { ...on, [name]: to })),
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

  it('has no reason for a record or field that does not exist', () => {
    const nouns = new Set(declared.map(({ noun }) => noun));
    expect(Object.keys(NO_WATCH).filter((noun) => !nouns.has(noun))).toEqual([]);
    const fields = new Set(levers.map(({ noun, name }) => `${noun}.${name}`));
    expect(Object.keys(FREE_FIELDS).filter((field) => !fields.has(field))).toEqual([]);
  });
});
