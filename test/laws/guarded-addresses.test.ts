import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { families } from '../../src/contexts/families.ts';

/** Names of fields that hold an address or headers of another system. */
const MAY_CARRY_A_SECRET = /(?:^|[a-z])(?:url|urls|headers|endpoint|uri)$/i;

/** Events whose addresses are no secret, each with the reason. Keyed by event and path. */
const NO_SECRET: readonly (readonly [RegExp, string])[] = [
  [/^(?:Org)?SsoConfig\w+ /, 'addresses of identity providers are public: browsers are sent there'],
  [/^(?:Tenant|Organization)\w+ externalBaseUrl$/, 'the own public address'],
  [/^DirectorySource\w+ /, 'the base address of a service: no query, and the credential is in the vault'],
  [/^LogDestination\w+ config\.endpoint$/, 'the base address of an object store: the key is in the vault'],
  [/^Alert\w+ url$|^Telemetry\w+ |^Observation/, 'a page that an employee visited; pages lose their query on arrival'],
];

/** Paths of fields in a schema whose name says that they hold an address. */
function* addressesIn(schema: z.core.JSONSchema.BaseSchema, path: readonly string[] = []): Generator<string> {
  const name = path.findLast((part) => part !== '') ?? '';
  if (path.length > 0 && MAY_CARRY_A_SECRET.test(name) && path.at(-1) === name) yield path.join('.');
  for (const [member, inner] of Object.entries(schema.properties ?? {}))
    if (typeof inner === 'object') yield* addressesIn(inner, [...path, member]);
  for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    yield* addressesIn(inner, path);
  if (typeof schema.items === 'object' && !Array.isArray(schema.items)) yield* addressesIn(schema.items, path);
}

const definitions = families.flatMap(({ definitions: all }) => Object.entries(all));

describe('the address or the headers of another system in an event', () => {
  it('are guarded in the audit log and in forwarding, or are said to hold no secret', () => {
    const open = definitions.flatMap(([type, { schema, guarded = {}, concealed = [], personal, audit }]) => {
      if (audit === false) return [];
      const json = z.toJSONSchema(schema, { unrepresentable: 'any' });
      const hidden = (path: string) =>
        path in guarded || concealed.includes(path) || (personal?.fields.includes(path) ?? false);
      return [...new Set(addressesIn(json))]
        .filter((path) => !hidden(path) && !NO_SECRET.some(([pattern]) => pattern.test(`${type} ${path}`)))
        .map((path) => `${type} ${path}`);
    });
    expect(open, 'declare `guarded` in the event, or say here why the field holds no secret').toEqual([]);
  });

  it('has no reason that nothing needs', () => {
    const all = definitions.flatMap(([type, { schema }]) =>
      [...addressesIn(z.toJSONSchema(schema, { unrepresentable: 'any' }))].map((path) => `${type} ${path}`),
    );
    expect(NO_SECRET.filter(([pattern]) => !all.some((one) => pattern.test(one)))).toEqual([]);
  });
});
