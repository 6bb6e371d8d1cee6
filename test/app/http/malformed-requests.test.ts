import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapErrors } from '../../../src/app/http/errors.ts';
import { malformedRefuser } from '../../../src/app/http/plugins/malformed-requests.ts';
import { asCsv, asJsonArray } from '../../../src/app/http/exported-rows.ts';
import { validateWithZod } from '../../../src/app/http/validation.ts';
import { sharedApp, type TestApp } from '../../dsl/app.ts';
import { rawRequest as request, sendRaw } from '../../dsl/raw-http.ts';

const JSON_BODY = 'content-type: application/json\r\n';
const LOGIN = '/api/v1/auth/login';

const refusals: readonly (readonly [string, string, number, string])[] = [
  [
    'a malformed percent escape in the path',
    request('GET', '/api/v1/admin/users/%E0%A4%A'),
    400,
    'validation failed: path: has a malformed percent escape',
  ],
  [
    'a malformed percent escape where there is no route',
    request('GET', '/nowhere/%'),
    400,
    'validation failed: path: has a malformed percent escape',
  ],
  ['a parameter that is too long', request('GET', `/api/v1/admin/users/${'a'.repeat(400)}`), 414, 'address too long'],
  ['an address that there is not', request('GET', '/nowhere'), 404, 'not found'],
  ['a method that the address does not have', request('DELETE', LOGIN), 404, 'not found'],
  ['a method that no address has', request('PROPFIND', LOGIN), 404, 'not found'],
  ['a method that HTTP does not have', request('FETCH', LOGIN), 400, 'validation failed: request: is malformed'],
  ['bytes that are no HTTP', 'GARBAGE\r\n\r\n', 400, 'validation failed: request: is malformed'],
  ['no host', 'GET /health HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'validation failed: Host: is required'],
  [
    'two hosts',
    request('GET', '/health', 'Host: elsewhere.example\r\n'),
    400,
    'validation failed: Host: is given twice',
  ],
  [
    'headers without end',
    request('GET', '/health', `x-a: ${'a'.repeat(20_000)}\r\n`),
    431,
    'request headers too large',
  ],
  ['an address without end', request('GET', `/${'a'.repeat(20_000)}`), 431, 'request headers too large'],
  [
    'a control character in a header',
    request('GET', '/health', 'x-a: \u0001\r\n'),
    400,
    'validation failed: request: is malformed',
  ],
  [
    'a length that is no number',
    request('POST', LOGIN, `${JSON_BODY}content-length: two\r\n`, '{}'),
    400,
    'validation failed: request: is malformed',
  ],
  [
    'a length and chunks',
    request('POST', LOGIN, `${JSON_BODY}content-length: 2\r\ntransfer-encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
    400,
    'validation failed: request: is malformed',
  ],
  [
    'a chunk without a size',
    request('POST', LOGIN, `${JSON_BODY}transfer-encoding: chunked\r\n`, 'zz\r\n{}\r\n0\r\n\r\n'),
    400,
    'validation failed: request: is malformed',
  ],
  [
    'a body that is too large',
    request('POST', LOGIN, `${JSON_BODY}content-length: 9000000\r\n`),
    413,
    'payload too large',
  ],
  [
    'another media type',
    request('POST', LOGIN, 'content-type: text/xml\r\ncontent-length: 4\r\n', '<a/>'),
    415,
    'unsupported media type',
  ],
  [
    'a media type that is none',
    request('POST', LOGIN, 'content-type: ;;\r\ncontent-length: 2\r\n', '{}'),
    415,
    'unsupported media type',
  ],
  [
    'another expectation than to continue',
    request('POST', LOGIN, 'expect: a-miracle\r\ncontent-length: 0\r\n'),
    417,
    'expectation failed',
  ],
];

describe('a request that reaches no handler', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  const cases = refusals.flatMap(([what, bytes, status, error]) =>
    (['http', 'https'] as const).map((protocol) => [what, protocol, bytes, status, error] as const),
  );

  it.each(cases)(
    '%s, over %s, is refused in the common error format',
    async (_what, protocol, bytes, status, error) => {
      const refused = await sendRaw(protocol === 'http' ? app.url : app.tlsUrl, bytes);
      const requestId = refused.headers['x-request-id'];
      expect([refused.status, JSON.parse(refused.body)]).toEqual([
        status,
        { error, code: expect.any(String), fields: expect.any(Array), requestId },
      ]);
      expect(requestId).toMatch(/^[\da-f-]{36}$/);
      expect(refused.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
    },
  );
});

/**
 * An error of a socket that nobody listens for ends the process; the test run reports it as unhandled. Node gives up the
 * sockets of some requests (`CONNECT`), so each kind is tried.
 */
it('that is refused may be reset by its client at any moment, and the process goes on', async () => {
  const app = await sharedApp();
  const connected = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\n\r\n';
  const upgrade = request('GET', '/health', 'upgrade: websocket\r\nconnection: upgrade\r\n');
  const before = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
  const kinds = [...refusals.map(([, bytes]) => bytes), connected, upgrade, before + connected, before + upgrade];
  for (const bytes of kinds)
    await Promise.all(
      [0, 1, 5, 20].map(async (ms) => {
        const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(bytes);
        await pause(ms);
        socket.resetAndDestroy();
      }),
    );
  await pause(100);
  expect((await app.anonymous.get('/live')).status).toBe(200);
  await app.close();
});

it('writes no error into the middle of a response', async () => {
  const server = fastify({ clientErrorHandler: malformedRefuser(() => undefined) });
  const endless = new Readable({ read: () => undefined });
  server.get('/', async (_request, reply) => reply.send(endless));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  endless.push('half a file');
  await expect.poll(() => received, { timeout: 10_000 }).toContain('half a file');
  socket.write('GARBAGE\r\n\r\n');
  await once(socket, 'close');
  expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  await server.close();
});

describe('a file whose rows fail', () => {
  let server: FastifyInstance;
  let url: string;
  beforeAll(async () => {
    server = fastify();
    mapErrors(server);
    validateWithZod(server);
    for (const rows of [0, 3]) {
      const failing = async function* () {
        for (let n = 0; n < rows; n += 1) yield { n };
        throw new Error('the database went away');
      };
      for (const [kind, body] of [
        ['csv', () => asCsv(failing(), ['n'])],
        ['json', () => asJsonArray(failing())],
      ] as readonly [string, () => Readable][]) {
        server.get(`/${kind}/${rows}`, async (_request, reply) =>
          reply
            .header('content-disposition', 'attachment; filename="rows"')
            .header('cache-control', 'private')
            .type('text/csv; charset=utf-8')
            .send(body()),
        );
      }
    }
    url = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  it.each(['csv', 'json'])('before the first %s row is a plain error, and no file', async (kind) => {
    const answer = await fetch(`${url}/${kind}/0`);
    expect([answer.status, await answer.json()]).toEqual([500, expect.objectContaining({ error: 'internal error' })]);
    expect([
      answer.headers.get('content-type'),
      answer.headers.get('content-disposition'),
      answer.headers.get('cache-control'),
    ]).toEqual(['application/json; charset=utf-8', null, 'no-store']);
  });

  it.each(['csv', 'json'])(
    'after some %s rows is aborted, so that a partial file is not mistaken for a complete one',
    async (kind) => {
      const answer = await fetch(`${url}/${kind}/3`);
      expect(answer.status).toBe(200);
      await expect(answer.text()).rejects.toThrow();
    },
  );
});

describe('query parameters that are not text', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });

  it.each([
    ['search=%FF', 'search'],
    ['search=a%ED%A0%80b', 'search'],
    ['search=%C3', 'search'],
    ['page=1&search=a%00', 'search'],
    ['%FF=1', 'query'],
  ])('are refused by name: %s', async (query, field) => {
    const { admin } = await app.newTenant();
    const { status, body } = await admin.get(`/api/v1/admin/alerts?${query}`);
    expect([status, body.fields[0].field]).toEqual([400, field]);
  });

  it.each(['search=%C3%BC', 'search=%F0%9F%98%80', 'search=100%', 'search=%C3%BC%20%e4%b8%ad&%C3%BC=1'])(
    'are none of these: %s',
    async (query) => expect((await app.anonymous.get(`/api/v1/admin/alerts?${query}`)).status).toBe(401),
  );
});

describe('headers that a request cannot have', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });

  it.each(['abc', '-1', '1.5', '9'.repeat(20)])('X-Log-Position: %s', async (position) => {
    const { admin } = await app.newTenant();
    const headers = { 'x-log-position': position };
    const refused = await admin.post('/api/v1/admin/users', { email: 'a@b.example', displayName: 'A' }, { headers });
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, 'X-Log-Position']);
    expect((await admin.get('/api/v1/admin/users')).body.total).toBe(0);
  });

  it('Content-Encoding: gzip', async () => {
    const { admin } = await app.newTenant();
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const { status, body } = await admin.send('POST', '/api/v1/admin/users', { raw: 'x', headers });
    expect([status, body.fields[0].field]).toEqual([415, 'Content-Encoding']);
  });
});
