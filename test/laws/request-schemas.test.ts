import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { jsonSchema } from '../../src/app/http/openapi/json-schema.ts';
import { bodyFields, isAddress, type BodyField, type JsonSchema } from '../dsl/body-fields.ts';
import { ADDRESSES_WITH_CREDENTIALS, NO_ADDRESSES } from '../dsl/hostile-addresses.ts';
import { HOSTILE_VALUES } from '../dsl/hostile-values.ts';
import { everyRoute, named } from './every-route.ts';

interface RequestSchema {
  readonly what: string;
  readonly schema: z.ZodType;
  readonly fields: readonly BodyField[];
}

function fieldsOf(schema: z.ZodType): BodyField[] {
  const root = jsonSchema(schema, 'input') as JsonSchema & { readonly $defs?: Readonly<Record<string, JsonSchema>> };
  return bodyFields(root, (ref) => root.$defs?.[ref.split('/').at(-1)!] ?? {});
}

const schemas: readonly RequestSchema[] = everyRoute.flatMap((route) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = route[part] as z.ZodType | undefined;
    return schema ? [{ what: `${named(route)} ${part}`, schema, fields: fieldsOf(schema) }] : [];
  }),
);

/** The fields that a schema refuses in this body, or what it throws: then the request would be a status 500. */
function refusedIn({ schema }: RequestSchema, body: unknown): readonly string[] | string {
  try {
    return schema.safeParse(body).error?.issues.map(({ path }) => path.map(String).join('.')) ?? [];
  } catch (error) {
    return `threw ${String(error)}`;
  }
}

describe('the schemas of requests', () => {
  it('return refusals and never throw, whatever value is in whatever field of whatever branch', () => {
    const values = [...HOSTILE_VALUES, ...NO_ADDRESSES, ...ADDRESSES_WITH_CREDENTIALS];
    const thrown = schemas.flatMap((schema) =>
      schema.fields.flatMap(({ name, holding }) =>
        values.flatMap((value) => {
          const refused = refusedIn(schema, holding(value));
          return typeof refused === 'string' ? [`${schema.what} ${name} ${JSON.stringify(value)}: ${refused}`] : [];
        }),
      ),
    );
    expect(thrown).toEqual([]);
  });

  it('refuse whatever is no web address, and credentials in one, by the name of the field', () => {
    const addresses = schemas.flatMap((schema) =>
      schema.fields.filter((field) => isAddress(field.schema)).map((field) => ({ schema, field })),
    );
    expect(addresses.length).toBeGreaterThan(15);
    const accepted = addresses.flatMap(({ schema, field: { name, holding } }) =>
      [...NO_ADDRESSES, ...ADDRESSES_WITH_CREDENTIALS]
        .filter((text) => !refusedIn(schema, holding(text)).includes(name))
        .map((text) => `${schema.what} ${name} ${text}`),
    );
    expect(accepted).toEqual([]);
  });
});

/** What people call things. Names of other kinds are reported by devices, or have a form of their own. */
const IS_NAME = /(?:^|\.)(?:name|displayName|policyName|deviceName|ruleName|groupName)$/;
/** Reported as browsers and identity providers spell it: it is cleaned where it is shown, and never refused. */
const REPORTED = /^(?:POST \/api\/v1\/ext\/|\w+ \/scim\/)/;
const NOT_ONE_LINE = ['a\nb', 'a\r\nb: c', 'a\tb', 'a\u0000b', 'a\u007fb', 'a\u0085b', 'a\u2028b', 'a\u2029b'];

it('names are one line: no line break and no control character, in whatever request', () => {
  const names = schemas
    .filter(({ what }) => what.endsWith(' body') && !REPORTED.test(what))
    .flatMap((schema) => schema.fields.filter(({ name }) => IS_NAME.test(name)).map((field) => ({ schema, field })));
  expect(names.length).toBeGreaterThan(25);
  const accepted = names.flatMap(({ schema, field: { name, holding } }) =>
    NOT_ONE_LINE.filter((text) => !refusedIn(schema, holding(text)).includes(name)).map(
      (text) => `${schema.what} ${name} ${JSON.stringify(text)}`,
    ),
  );
  expect(accepted).toEqual([]);
});

/** Responses: they describe what is sent, and judge nothing. */
const DESCRIBES_RESPONSES = [
  'src/app/http/routes/on-call/on-call-calendars.ts',
  'src/app/http/routes/screenshots/screenshots.ts',
];

it('every address in a request or a setting is an `addressField`', () => {
  const users = ['src', 'commands', 'queries', 'projections'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.endsWith('.ts') && /\bz\s*\.(?:url|httpUrl)\(/.test(readFileSync(path, 'utf8'))),
  );
  expect(users.sort()).toEqual(DESCRIBES_RESPONSES);
});
