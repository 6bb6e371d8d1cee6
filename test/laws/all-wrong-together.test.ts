import { beforeAll, describe, expect, it } from 'vitest';
import { bodyFields, type JsonSchema } from '../dsl/body-fields.ts';
import { sharedApp } from '../dsl/app.ts';
import type { Client } from '../dsl/http-client.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly { name: string; in: string }[];
  readonly requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> };
}

const ID = '0198a000-0000-7000-8000-000000000000';

const isTime = ({ format, anyOf = [] }: JsonSchema): boolean =>
  format === 'date-time' || anyOf.some((branch) => branch.format === 'date-time');

/** Decision 0173. With a body that is no JSON, `body` stands for its fields. */
describe('every route of administrators names wrong headers, parameters and fields together', () => {
  let admin: Client;
  let operations: Operation[] = [];
  let schemas: Readonly<Record<string, JsonSchema>> = {};
  beforeAll(async () => {
    const app = await sharedApp();
    ({ admin } = await app.newTenant());
    const { paths, components } = (await app.anonymous.get('/openapi.json')).body as {
      paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
      components: { schemas: Record<string, JsonSchema> };
    };
    ({ schemas } = components);
    operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
        .filter(({ security = [] }) => security.some((way) => 'adminToken' in way)),
    );
  });

  /** What is refused of a request with NUL in all its parameters and this body, beside a wrong header. */
  async function refused({ method, path, parameters = [] }: Operation, raw: string | undefined): Promise<string[]> {
    const query = parameters.filter((one) => one.in === 'query').map(({ name }) => `${name}=%00`);
    const address = `${path.replaceAll(/\{\w+\}/g, ID)}?${query.join('&')}`;
    const json = raw === undefined ? {} : { raw, headers: { 'content-type': 'application/json' } };
    const headers = { ...json.headers, 'x-log-position': 'x', 'idempotency-key': 'a b' };
    const { status, body } = await admin.send(method, address, { ...json, headers });
    expect([method, path, status]).toEqual([method, path, 400]);
    return body.fields.map(({ field }: { field: string }) => field).sort();
  }

  const expectedOf = ({ parameters = [] }: Operation): string[] => [
    'X-Log-Position',
    ...(parameters.some(({ name }) => name === 'Idempotency-Key') ? ['Idempotency-Key'] : []),
    ...parameters.filter((one) => one.in === 'query').map(({ name }) => name),
  ];

  it('of bodies whose texts are none', async () => {
    expect(operations.length).toBeGreaterThan(150);
    for (const operation of operations) {
      const schema = operation.requestBody?.content['application/json']?.schema;
      const all = bodyFields(schema, (ref) => schemas[ref.split('/').at(-1)!] ?? {});
      const names = [...new Set(all.map(({ name }) => name.split('.')[0]!))];
      const body = schema && JSON.stringify(Object.fromEntries(names.map((name) => [name, 'a\0'])));
      const found = await refused(operation, body);
      expect([operation.path, found]).toEqual([operation.path, [...expectedOf(operation), ...names].sort()]);
    }
  });

  /** The fields of the body that are named, without what is wrong within them. */
  const fieldsNamed = async ({ method, path }: Operation, body: object, headers: Record<string, string> = {}) => {
    const refusal = await admin.send(method, path.replaceAll(/\{\w+\}/g, ID), { body, headers });
    const fields: { field: string }[] = refusal.body?.fields ?? [];
    return refusal.status === 400 || refusal.status === 413 ? fields.map(({ field }) => field.split('.')[0]!) : [];
  };

  it('of bodies where one text is none, or is too long, or where a header is wrong', async () => {
    const hidden: string[] = [];
    let judged = 0;
    for (const operation of operations) {
      const schema = operation.requestBody?.content['application/json']?.schema;
      const all = bodyFields(schema, (ref) => schemas[ref.split('/').at(-1)!] ?? {});
      const names = [...new Set(all.map(({ name }) => name.split('.')[0]!))];
      const junk = Object.fromEntries(names.map((name) => [name, 'junk']));
      const wrong = await fieldsNamed(operation, junk);
      judged += wrong.length;
      const missing = (found: string[], except?: string) =>
        wrong.filter((name) => name !== except && !found.includes(name));
      const note = (cause: string, lost: string[]) =>
        lost.length > 0 && hidden.push(`${operation.method} ${operation.path}: ${cause} hides ${lost.join(', ')}`);
      if (wrong.length === 0) continue;
      note('a header', missing(await fieldsNamed(operation, junk, { 'x-log-position': 'x' })));
      for (const name of names)
        for (const [what, text] of [
          ['NUL', 'a\0'],
          ['70,000 characters', 'x'.repeat(70_000)],
        ] as const)
          note(`${what} in ${name}`, missing(await fieldsNamed(operation, { ...junk, [name]: text }), name));
    }
    expect(judged).toBeGreaterThan(200);
    expect(hidden).toEqual([]);
  });

  it('and names no field that the request does not have', async () => {
    const foreign: string[] = [];
    for (const operation of operations) {
      const { schema, example } = operation.requestBody?.content['application/json'] ?? {};
      if (!schema) continue;
      const all = bodyFields(schema, (ref) => schemas[ref.split('/').at(-1)!] ?? {});
      const names = new Set(['body', ...all.map(({ name }) => name.split('.')[0]!)]);
      for (const { name } of operation.parameters ?? []) names.add(name);
      for (const body of [Object.fromEntries([...names].map((name) => [name, 'junk'])), example ?? {}])
        for (const field of await fieldsNamed(operation, body))
          if (!names.has(field)) foreign.push(`${operation.method} ${operation.path}: ${field}`);
    }
    expect(foreign).toEqual([]);
  });

  it('of bodies with a time that is past, or still to come', async () => {
    const hidden: string[] = [];
    let refusedTimes = 0;
    for (const operation of operations) {
      const { schema, example } = operation.requestBody?.content['application/json'] ?? {};
      const times = bodyFields(schema, (ref) => schemas[ref.split('/').at(-1)!] ?? {}).filter((one) =>
        isTime(one.schema),
      );
      for (const { name } of times.filter((one) => !one.name.includes('.')))
        for (const time of ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z']) {
          const body = { ...(example as object | undefined), [name]: time };
          if (!(await fieldsNamed(operation, body)).includes(name)) continue;
          refusedTimes += 1;
          const beside = await fieldsNamed(operation, body, { 'x-log-position': 'x' });
          if (!beside.includes(name)) hidden.push(`${operation.method} ${operation.path}: ${name} ${time}`);
        }
    }
    expect(refusedTimes).toBeGreaterThan(1);
    expect(hidden).toEqual([]);
  });

  it('of bodies that are no JSON', async () => {
    for (const operation of operations.filter(({ requestBody }) => requestBody?.content['application/json'])) {
      const found = await refused(operation, '{"a":');
      expect([operation.path, found]).toEqual([operation.path, [...expectedOf(operation), 'body'].sort()]);
    }
  });
});
