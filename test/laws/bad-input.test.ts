import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestResponse, type Client, type TestApp } from '../dsl/app.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly { name: string; in: string }[];
  readonly requestBody?: { content: Record<string, { schema: JsonSchema }> };
}
interface JsonSchema {
  readonly properties?: Record<string, object>;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Values that no field accepts. */
const nonsense = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1.5,
    1e308,
    '',
    [],
    {},
    [[]],
    '\u0000',
    '\ud800',
    '\u202e‮',
    '😀'.repeat(300),
    '../../etc/passwd',
    "' or 1=1 --",
    '${7*7}',
    '__proto__',
  ),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 10 }), fc.string({ maxLength: 10 }), { maxKeys: 3 }),
);

const fieldsOf = (schema: JsonSchema | undefined): string[] => [
  ...Object.keys(schema?.properties ?? {}),
  ...[...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])].flatMap(fieldsOf),
];

/**

 * A body with this text in one field, encoded for the media type. A lone surrogate is sent as three bytes of invalid

 * UTF-8.

 */
function bodyOf(media: string, field: string, text: string): { raw: Buffer; headers: Record<string, string> } {
  if (media === 'application/json')
    return { raw: Buffer.from(JSON.stringify({ [field]: text })), headers: { 'content-type': media } };
  const bytes = text === '\ud800' ? Buffer.from([0xed, 0xa0, 0x80]) : Buffer.from(text);
  if (media !== 'multipart/form-data')
    return {
      raw: Buffer.from(`${field}=${[...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`),
      headers: { 'content-type': media },
    };
  const part = (head: string) =>
    Buffer.concat([Buffer.from(`--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n`), bytes, Buffer.from('\r\n')]);
  return {
    raw: Buffer.concat([
      part(`name="${field}"`),
      part(`name="file"; filename="a\u0000.csv"`),
      Buffer.from('--x--\r\n'),
    ]),
    headers: { 'content-type': `${media}; boundary=x` },
  };
}

describe('bad input, generated from the OpenAPI document', () => {
  let app: TestApp;
  let operations: Operation[] = [];
  let admin: Client;
  beforeAll(async () => {
    app = await startApp({ recoveryKey: 'a-recovery-key-for-tests' });
    const document = (await app.anonymous.get('/openapi.json')).body as {
      paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
    };
    operations = Object.entries(document.paths)
      // Takes only its credential and ends that session: every later refusal would become a 401.
      .filter(([path]) => !path.endsWith('/logout'))
      .flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
      );
    admin = (await app.newTenant()).admin;
  });
  afterAll(() => app.close());

  function expectRefusal(what: string, answer: TestResponse): void {
    expect([what, answer.status < 500 || answer.status === 503]).toEqual([what, true]);
    if (answer.status < 400) return;
    expect([what, typeof answer.body?.error, answer.text.includes('    at ')]).toEqual([what, 'string', false]);
  }

  const pathOf = ({ path }: Operation, value: string) => path.replaceAll(/\{\w+\}/g, encodeURIComponent(value));
  const id = '0198a000-0000-7000-8000-000000000000';
  const mutating = () => operations.filter(({ method }) => method !== 'GET' && method !== 'DELETE');

  it('rejects bodies that are not JSON, have another media type, or are too large', async () => {
    for (const operation of mutating()) {
      const path = pathOf(operation, id);
      const what = `${operation.method} ${operation.path}`;
      const json = { 'content-type': 'application/json' };
      for (const raw of [
        '{',
        '{"a":',
        'null',
        '[]',
        '"text"',
        '\u0000',
        '{"__proto__":{"x":1}}',
        '{"constructor":{"prototype":{}}}',
      ]) {
        expectRefusal(what, await admin.send(operation.method, path, { raw, headers: json }));
      }
      const wrongType = await admin.send(operation.method, path, {
        raw: '<a/>',
        headers: { 'content-type': 'application/xml' },
      });
      expectRefusal(what, wrongType);
      const large = await admin.send(operation.method, path, {
        raw: `{"x":"${'y'.repeat(1_100_000)}"}`,
        headers: json,
      });
      expectRefusal(what, large);
      if (
        operation.requestBody?.content['application/json'] &&
        operation.security.some((way) => 'adminToken' in way && !('reAuthToken' in way))
      ) {
        expect([what, wrongType.status]).toEqual([what, 415]);
        expect([what, large.status]).toEqual([what, 413]);
      }
    }
  });

  it('rejects wrong types, missing and unknown fields, and hostile text', async () => {
    for (const operation of mutating()) {
      const fields = fieldsOf(operation.requestBody?.content['application/json']?.schema);
      const body = fc.record(Object.fromEntries([...fields, 'unknownField'].map((name) => [name, nonsense])), {
        requiredKeys: [],
      });
      for (const sample of fc.sample(body, { numRuns: 12, seed: 7 })) {
        expectRefusal(
          `${operation.method} ${operation.path}`,
          await admin.send(operation.method, pathOf(operation, id), { body: sample }),
        );
      }
    }
  });

  it('rejects text that no column can store, field by field, in bodies of every kind', async () => {
    for (const operation of mutating()) {
      const what = `${operation.method} ${operation.path}`;
      for (const [media, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
        for (const field of fieldsOf(schema)) {
          for (const text of ['a\u0000b', '\ud800']) {
            const answer = await admin.send(operation.method, pathOf(operation, id), bodyOf(media, field, text));
            expectRefusal(`${what} ${media} ${field}`, answer);
            if (media === 'application/json') expect([what, field, answer.status >= 400]).toEqual([what, field, true]);
          }
        }
      }
    }
  });

  it('rejects hostile query parameters and path segments', async () => {
    for (const operation of operations) {
      const what = `${operation.method} ${operation.path}`;
      const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
      for (const value of [
        '',
        '0',
        '-1',
        '1e9',
        '99999999999999999999',
        'NaN',
        '2026-13-45',
        '%F0%9F%98%80',
        'a%00b',
        '%ED%A0%80',
        "'--",
        'a'.repeat(5_000),
      ]) {
        const query = names.map((name) => `${name}=${value}`).join('&');
        expectRefusal(what, await admin.send(operation.method, `${pathOf(operation, id)}?${query}`));
      }
      if (!operation.path.includes('{')) continue;
      for (const segment of ['nonsense', '..', '%', '\u0000', 'a'.repeat(1_000), "1' or '1'='1", '😀']) {
        const path = pathOf(operation, segment);
        const answer = await admin.send(operation.method, path);
        expectRefusal(what, answer);
        // Clients resolve "..", and the resulting address may exist.
        if (new URL(path, app.url).pathname === path)
          expect([what, segment, answer.status]).not.toEqual([what, segment, 200]);
      }
    }
  });
});
