import { once } from 'node:events';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newLogger } from '../../src/platform/observability/logger.ts';
import { errorCodes } from '../../src/platform/kernel/error-codes.ts';
import { bodyFields, isAddress, type BodyField, type JsonSchema } from '../dsl/body-fields.ts';
import { ADDRESSES_WITH_CREDENTIALS, NO_ADDRESSES } from '../dsl/hostile-addresses.ts';
import { HOSTILE_VALUES } from '../dsl/hostile-values.ts';
import { newScimClient, scimAs } from '../dsl/scim.ts';
import { startApp, type TestResponse, type Client, type TestApp } from '../dsl/app.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly { name: string; in: string; schema?: object }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
}

/** Hostile text of query parameters, percent-encoded; each is sent in one parameter at a time. */
const HOSTILE_TEXTS = [
  '',
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  'a%00b',
  '%ED%A0%80',
  '%',
  '%F0%9F%98%80',
  "'--",
  '0000-01-01',
  '0000-01-01T00:00:00Z',
  '2026-02-30',
  '2026-13-45',
  '9999-12-31T23:59:59-14:00',
  '2026-01-01T00:00:00%2B99:99',
  'meta.created%20gt%20%220000-01-01T00:00:00Z%22',
  'meta.lastModified%20ne%20%229999-12-31T23:59:59-14:00%22',
  'a'.repeat(5_000),
];

/** Headers that routes read, with values that none of them accepts. Bytes above 0x7f are sent as Latin-1. */
const HOSTILE_HEADERS: readonly (readonly [string, string])[] = [
  ['x-tenant-id', 'nonsense'],
  ['x-tenant-id', '\u00ff'],
  ['idempotency-key', '\u00fc'],
  ['idempotency-key', 'x'.repeat(5_000)],
  ['x-log-position', '99999999999999999999'],
  ['x-log-position', '-1'],
  ['x-reauth-token', '\u00ff\u00fe'],
  ['x-enrollment-secret', '\u00ff'],
  ['if-none-match', '"\u00ff'],
  ['if-match', 'nonsense'],
  ['authorization', 'Bearer \u00ff'],
  ['cookie', '=;\u00ff=%00'],
  ['user-agent', '\u00ff'.repeat(2_000)],
  ['x-forwarded-for', 'nonsense, ::ffff:1.2.3.4.5'],
  ['range', 'bytes=5-1'],
];

/** RFC 6749 §5.2. */
const OAUTH_ERROR = {
  error: expect.stringMatching(/^[a-z_]+$/),
  errorDescription: expect.any(String),
  error_description: expect.any(String),
};

/** RFC 7644 §3.12. */
const SCIM_ERROR = {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: expect.any(String),
  detail: expect.any(String),
};

/** Takes turns, so that each route meets some of many values in bounded time, and all routes together meet all. */
class Turns<Value> {
  readonly #values: readonly Value[];
  #at = 0;
  constructor(values: readonly Value[]) {
    this.#values = values;
  }
  next(count: number): Value[] {
    return Array.from(
      { length: Math.min(count, this.#values.length) },
      () => this.#values[this.#at++ % this.#values.length]!,
    );
  }
}

const AT_ONCE = 8;
/** Runs the requests, some of them at once. */
async function all(requests: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = [...requests];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The schemas of SCIM resources are served by SCIM itself. */
const SCIM_FIELDS = [
  'userName',
  'displayName',
  'emails',
  'active',
  'name',
  'members',
  'Operations',
  'schemas',
  'filter',
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
  const errors: string[] = [];
  let schemas: Readonly<Record<string, JsonSchema>> = {};
  const fieldsOf = (schema: JsonSchema | undefined): BodyField[] =>
    bodyFields(schema, (ref) => schemas[ref.split('/').at(-1)!] ?? {});
  const namedFieldsOf = ({ path, requestBody }: Operation): BodyField[] => [
    ...fieldsOf(requestBody?.content['application/json']?.schema),
    ...[...(path.startsWith('/scim/') ? SCIM_FIELDS : []), 'unknownField'].map((name) => ({
      name,
      schema: {},
      holding: (value: unknown) => ({ [name]: value }),
    })),
  ];
  beforeAll(async () => {
    const kept = new Writable({
      write(line: Buffer, _encoding, done) {
        if ((JSON.parse(line.toString()) as { msg?: string }).msg === 'request failed') errors.push(line.toString());
        done();
      },
    });
    app = await startApp({ recoveryKey: 'a-recovery-key-for-tests' }, newLogger('error', kept));
    const document = (await app.anonymous.get('/openapi.json')).body as {
      paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
      components: { schemas: Record<string, JsonSchema> };
    };
    ({ schemas } = document.components);
    operations = Object.entries(document.paths)
      // Takes only its credential and ends that session: every later refusal would become a 401.
      .filter(([path]) => !path.endsWith('/logout'))
      .flatMap(([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
      );
    const tenant = await app.newTenant();
    const scim = await scimAs(app, await newScimClient(tenant));
    const send: Client['send'] = (method, path, asking) =>
      (path.startsWith('/scim/') ? scim : tenant.admin).send(method, path, asking);
    admin = { ...tenant.admin, send };
  });
  afterAll(() => app.close());

  /** Never a defect; a refusal has the common form, discloses no stack and has changed nothing. */
  function expectRefusal(what: string, { status, headers, body, text }: TestResponse): void {
    expect([what, status < 500 || status === 503]).toEqual([what, true]);
    if (status < 400) return;
    expect([what, text.includes('    at ')]).toEqual([what, false]);
    expect([what, status, headers.get('x-log-position')]).toEqual([what, status, null]);
    if (/ \/oauth\/|\/\.well-known\/oauth|\/backchannel-logout/.test(what))
      return expect([what, body]).toEqual([what, expect.objectContaining(OAUTH_ERROR)]);
    if (what.includes(' /scim/')) return expect([what, body]).toEqual([what, expect.objectContaining(SCIM_ERROR)]);
    if (what.includes('/enroll/auto')) return expect([what, typeof body?.error]).toEqual([what, 'string']);
    expect([what, body]).toEqual([
      what,
      {
        error: expect.any(String),
        code: expect.any(String),
        fields: expect.any(Array),
        requestId: headers.get('x-request-id'),
      },
    ]);
    expect([what, body.code in errorCodes]).toEqual([what, true]);
    if (body.code === 'validation_failed') expect([what, body.fields.length > 0]).toEqual([what, true]);
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
      if (wrongType.status === 415 && wrongType.body.fields)
        expect([what, wrongType.body.fields]).toMatchObject([what, [{ field: 'Content-Type' }]]);
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

  it('rejects hostile values, one in one field of a body at a time', async () => {
    const values = new Turns(HOSTILE_VALUES);
    const addresses = new Turns([...NO_ADDRESSES, ...ADDRESSES_WITH_CREDENTIALS]);
    await all(
      mutating().flatMap((operation) =>
        namedFieldsOf(operation).flatMap((field) =>
          [...values.next(4), ...addresses.next(isAddress(field.schema) ? 4 : 1)].map((value) => async () => {
            const body = field.holding(value);
            const answer = await admin.send(operation.method, pathOf(operation, id), { body });
            expectRefusal(`${operation.method} ${operation.path} ${JSON.stringify(body)}`, answer);
          }),
        ),
      ),
    );
  });

  it('rejects text that no column can store, field by field, in bodies of every kind', async () => {
    for (const operation of mutating()) {
      const what = `${operation.method} ${operation.path}`;
      for (const [media, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
        const names = new Set(fieldsOf(schema).map(({ name }) => name.split('.')[0]!));
        for (const field of names) {
          for (const text of ['a\u0000b', '\ud800']) {
            const answer = await admin.send(operation.method, pathOf(operation, id), bodyOf(media, field, text));
            expectRefusal(`${what} ${media} ${field}`, answer);
            if (media === 'application/json') expect([what, field, answer.status >= 400]).toEqual([what, field, true]);
          }
        }
      }
    }
  });

  it('rejects hostile text, in one query parameter at a time', async () => {
    const texts = new Turns(HOSTILE_TEXTS);
    /** Parameters that many routes share, such as those of pages, meet every text on the first route. */
    const met = new Set<string>();
    const textsOf = (parameter: { name: string; schema?: object }) => {
      const described = JSON.stringify([parameter.name, parameter.schema]);
      if (met.has(described)) return texts.next(4);
      met.add(described);
      return HOSTILE_TEXTS;
    };
    await all(
      operations.flatMap((operation) =>
        operation.parameters
          .filter((parameter) => parameter.in === 'query')
          .flatMap((parameter) =>
            textsOf(parameter).map((value) => async () => {
              const { name } = parameter;
              const answer = await admin.send(operation.method, `${pathOf(operation, id)}?${name}=${value}`);
              expectRefusal(`${operation.method} ${operation.path} ${name}=${value.slice(0, 40)}`, answer);
            }),
          ),
      ),
    );
  });

  it('rejects hostile text, in one segment of a path at a time', async () => {
    const segments = ['nonsense', '..', '%', '\u0000', 'a'.repeat(1_000), "1' or '1'='1", '😀'];
    await all(
      operations.flatMap((operation) =>
        [...operation.path.matchAll(/\{\w+\}/g)].flatMap(([parameter]) =>
          segments.map((segment) => async () => {
            const path = operation.path
              .replace(parameter, encodeURIComponent(segment))
              .replaceAll(/\{\w+\}/g, encodeURIComponent(id));
            const what = `${operation.method} ${operation.path} ${parameter} ${segment.slice(0, 20)}`;
            const answer = await admin.send(operation.method, path);
            expectRefusal(what, answer);
            // Clients resolve "..", and the resulting address may exist.
            if (new URL(path, app.url).pathname === path) expect([what, answer.status]).not.toEqual([what, 200]);
          }),
        ),
      ),
    );
  });

  it('rejects hostile headers, one at a time', async () => {
    const headers = new Turns(HOSTILE_HEADERS);
    await all(
      operations.flatMap((operation) =>
        headers.next(5).map(([name, value]) => async () => {
          const answer = await admin.send(operation.method, pathOf(operation, id), { headers: { [name]: value } });
          expectRefusal(`${operation.method} ${operation.path} ${name}`, answer);
        }),
      ),
    );
  });

  it('rejects text in another character encoding, and text that is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name":"M'), Buffer.from([0xfc]), Buffer.from('ller"}')]);
    for (const operation of mutating().filter(({ requestBody }) => requestBody?.content['application/json'])) {
      const what = `${operation.method} ${operation.path}`;
      for (const [charset, status] of [
        ['; charset=iso-8859-1', 415],
        ['; charset=utf-16', 415],
        ['', 400],
      ] as const) {
        const headers = { 'content-type': `application/json${charset}` };
        const answer = await admin.send(operation.method, pathOf(operation, id), { raw: bytes, headers });
        expectRefusal(what, answer);
        if (![401, 403, 404].includes(answer.status))
          expect([what, charset, answer.status]).toEqual([what, charset, status]);
      }
    }
  });

  it('accepts an empty body with a content type, where no body is needed', async () => {
    for (const operation of operations.filter(({ method }) => method !== 'GET')) {
      if (operation.requestBody?.required) continue;
      const what = `${operation.method} ${operation.path}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await admin.send(operation.method, pathOf(operation, id), { raw: '', headers });
      expectRefusal(what, answer);
      expect([what, answer.status, answer.body?.code]).not.toEqual([what, 400, 'malformed_json']);
      expect([what, answer.body?.fields?.[0]?.field]).not.toEqual([what, 'body']);
    }
  });

  it('takes a client that hangs up for no defect', async () => {
    const { hostname, port } = new URL(app.url);
    await all(
      operations.map((operation) => async () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        const body = operation.method === 'GET' ? '' : '{}';
        socket.write(
          `${operation.method} ${pathOf(operation, id)} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          () => socket.resetAndDestroy(),
        );
        await once(socket, 'close');
      }),
    );
    // A request on a later connection is answered, so the earlier ones were read.
    expect((await app.anonymous.get('/health')).status).toBe(200);
  });

  it('has logged none of it as a defect of the service', () => {
    expect(errors).toEqual([]);
  });
});
