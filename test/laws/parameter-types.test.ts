import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/app/http/openapi/document.ts';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import { fieldsOfIssues } from '../../src/app/http/wrong-fields.ts';
import { everyRoute, named } from './every-route.ts';

interface Shown {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly { readonly format?: string }[];
}
interface Parameter {
  readonly what: string;
  readonly name: string;
  readonly shown: Shown;
  accepts(text: string): boolean;
}

const { paths } = openApiDocument(routeGroups) as unknown as {
  paths: Record<
    string,
    Record<string, { readonly parameters: readonly { name: string; in: string; schema: Shown }[] }>
  >;
};

const parameters: readonly Parameter[] = everyRoute.flatMap((route) =>
  paths[route.path]![route.method.toLowerCase()]!.parameters.flatMap(({ name, in: place, schema: shown }) => {
    const schema = (place === 'path' ? route.params : place === 'query' ? route.query : undefined) as
      z.ZodType | undefined;
    if (!schema) return [];
    const accepts = (text: string) =>
      !schema.safeParse({ [name]: text }).error?.issues.some(({ path }) => path[0] === name);
    return [{ what: `${named(route)} ${name}`, name, shown, accepts }];
  }),
);

/** What a parameter takes, found out by what its schema accepts. */
const SAMPLES: readonly (readonly [string, string])[] = [
  ['integer', '7'],
  ['boolean', 'true'],
  ['date', '2026-01-01'],
  ['date-time', '2026-01-01T00:00:00Z'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
];
const takes = ({ accepts }: Parameter): string =>
  accepts('anything') ? 'text' : (SAMPLES.find(([, sample]) => accepts(sample))?.[0] ?? 'text');

const isShownAs: Readonly<Record<string, (shown: Shown) => boolean>> = {
  integer: ({ type, minimum, maximum }) => type === 'integer' && minimum !== undefined && maximum !== undefined,
  boolean: ({ type }) => type === 'boolean',
  date: ({ anyOf = [] }) => anyOf.some(({ format }) => format === 'date'),
  'date-time': ({ format }) => format === 'date-time',
  uuid: ({ format }) => format === 'uuid',
};

/** Ids that others choose: a client of SCIM, an extension, a schema; an actor can be the system. */
const OTHER_IDS = new Set(['clientID', 'extensionID', 'extension_id', 'schemaId', 'actor_id']);

describe('a parameter in the API description', () => {
  it('has the type that its schema reads: declare numbers and truth values with src/app/http/query-types.ts', () => {
    expect(parameters.length).toBeGreaterThan(300);
    const found = new Set(parameters.map(takes));
    for (const kind of Object.keys(isShownAs)) expect(found).toContain(kind);
    const loose = parameters.filter((one) => isShownAs[takes(one)]?.(one.shown) === false);
    expect(loose.map(({ what, shown }) => [what, shown])).toEqual([]);
  });

  it('accepts the ends of its range, both truth values and each value of its vocabulary', () => {
    const promised = ({ shown }: Parameter): readonly string[] => [
      ...[shown.minimum, shown.maximum].filter((bound) => bound !== undefined).map(String),
      ...(shown.type === 'boolean' ? ['true', 'false'] : []),
      ...(shown.enum ?? []),
    ];
    const refused = parameters.flatMap((one) =>
      promised(one).flatMap((text) => (one.accepts(text) ? [] : [`${one.what}=${text}`])),
    );
    expect(refused).toEqual([]);
  });

  // Also one that no schema names, where a provider may send others.
  it('that is given twice is refused for that, whatever it is', () => {
    const wrong = everyRoute.flatMap((route) => {
      const query = route.query as z.ZodType | undefined;
      const declared = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
      const names = [...declared, ...(query instanceof z.ZodObject && query.def.catchall ? ['of-a-provider'] : [])];
      if (!query || names.length === 0) return [];
      const twice = Object.fromEntries(names.map((name) => [name, ['1', '2']]));
      const { error } = query.safeParse(twice, { reportInput: true });
      const found = error ? fieldsOfIssues('querystring', error) : [];
      const expected = names.map((field) => ({ field, message: 'must be given once' }));
      return expected
        .filter(
          ({ field, message }) =>
            !found.some((one) => one.field === field && one.message === message) ||
            found.some((one) => one.field === field && one.message !== message),
        )
        .map(({ field }) => [named(route), field, found.filter((one) => one.field === field)]);
    });
    expect(wrong).toEqual([]);
  });

  it('is a UUID if its name says that it is an id', () => {
    const others = parameters.filter(
      ({ name, shown }) => /(?:_id|I[dD])$/.test(name) && !OTHER_IDS.has(name) && shown.format !== 'uuid',
    );
    expect(others.map(({ what }) => what)).toEqual([]);
  });
});
