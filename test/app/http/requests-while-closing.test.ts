import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fastify from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { refuseWhileClosing } from '../../../src/app/http/plugins/closing.ts';
import { OIDC_BACKCHANNEL_LOGOUT } from '../../../src/contexts/sso/domain/addresses.ts';
import { registry } from '../../../src/platform/observability/metrics.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { responseIn, type RawResponse } from '../../dsl/raw-http.ts';
import { ERROR_SCHEMA } from '../../dsl/scim.ts';

const DRAIN_MS = 20_000;
const ID = 'asked-while-closing';
const FORM = 'content-type: application/x-www-form-urlencoded\r\n';
const DESCRIPTION = '/openapi.json';
/** More than the buffers of a connection hold. */
const LARGE = 'x'.repeat(8 * 1024 * 1024);

const sent = (method: string, path: string, headers = '', body = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\nx-request-id: ${ID}\r\n${headers}` +
  `${body === '' ? '' : `content-length: ${body.length}\r\n`}\r\n${body}`;

const COMMON = { error: 'service unavailable', code: 'service_unavailable', fields: [], requestId: ID };
const OAUTH = {
  error: 'temporarily_unavailable',
  errorDescription: 'service unavailable',
  error_description: 'service unavailable',
};
const JSON_MEDIA = 'application/json; charset=utf-8';
const SCIM = {
  schemas: [ERROR_SCHEMA],
  status: '503',
  detail: 'service unavailable',
  error: 'service unavailable',
};
const NOBODY = '00000000-0000-4000-8000-000000000000';

const asked: readonly (readonly [string, bytes: string, media: string, body: object | undefined])[] = [
  ['a JSON route', sent('GET', '/api/v1/admin/alerts'), JSON_MEDIA, COMMON],
  ['a probe', sent('GET', '/live'), JSON_MEDIA, COMMON],
  ['no route', sent('GET', '/nowhere'), JSON_MEDIA, COMMON],
  ['a method that a route does not have', sent('DELETE', '/live'), JSON_MEDIA, COMMON],
  ['HEAD', sent('HEAD', '/api/v1/admin/alerts'), JSON_MEDIA, undefined],
  ['SCIM', sent('GET', '/scim/v2/Users'), 'application/scim+json; charset=utf-8', SCIM],
  ['OAuth', sent('POST', '/oauth/token', FORM, 'grant_type=client_credentials'), JSON_MEDIA, OAUTH],
  [
    'a back-channel logout',
    sent('POST', `${OIDC_BACKCHANNEL_LOGOUT}?tenant_id=${NOBODY}`, FORM, 'logout_token=x'),
    JSON_MEDIA,
    OAUTH,
  ],
  [
    'a body that is still being sent',
    sent('POST', '/api/v1/auth/login', 'content-type: application/json\r\n', LARGE),
    JSON_MEDIA,
    COMMON,
  ],
];

/** A connection, and what it receives until it ends. */
interface Connection {
  readonly socket: Socket;
  readonly ended: Promise<RawResponse>;
}

async function connected(url: string): Promise<Connection> {
  const { hostname: host, port, protocol } = new URL(url);
  const isTls = protocol === 'https:';
  const socket = isTls
    ? connectTls({ host, port: Number(port), rejectUnauthorized: false })
    : connect(Number(port), host);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const ended = new Promise<RawResponse>((resolve) => socket.once('close', () => resolve(responseIn(received))));
  await once(socket, isTls ? 'secureConnect' : 'connect');
  return { socket, ended };
}

/** In this process, also by applications of other files. */
async function refusedSoFar(): Promise<number> {
  const { values } = await registry.getSingleMetric('castellan_http_requests_total')!.get();
  const found = values.find(({ labels }) => labels['route'] === '/scim/v2/Users' && labels['status'] === '503');
  return found?.value ?? 0;
}

describe('OP-221: a request that arrives while the service stops', () => {
  let app: TestApp;
  let stopped: Promise<number>;
  let refusedBefore: number;
  const lines: Record<string, unknown>[] = [];
  const connections = new Map<string, Connection>();
  const responses = new Map<string, RawResponse>();
  const urlOf = (protocol: string) => (protocol === 'http' ? app.url : app.tlsUrl);
  const PROTOCOLS = ['http', 'https'] as const;
  const HALF = 'content-type: application/json\r\ncontent-length: 2\r\n';

  beforeAll(async () => {
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    app = await startApp({ drainMs: DRAIN_MS }, log);
    for (const protocol of PROTOCOLS) {
      for (const [what] of asked) connections.set(`${protocol} ${what}`, await connected(urlOf(protocol)));
      for (const what of ['idle', 'in progress', 'unread'])
        connections.set(`${protocol} ${what}`, await connected(urlOf(protocol)));
      const idle = connections.get(`${protocol} idle`)!.socket;
      idle.write(sent('GET', '/live'));
      await once(idle, 'data');
      connections.get(`${protocol} in progress`)!.socket.write(`${sent('POST', '/api/v1/auth/login', HALF)}{`);
    }
    // A response of megabytes, whose headers are sent before the stop begins.
    for (const protocol of PROTOCOLS) {
      const { socket } = connections.get(`${protocol} unread`)!;
      socket.write(sent('GET', DESCRIPTION));
      await once(socket, 'data');
      socket.pause();
    }
    // What was sent before has arrived.
    await Promise.all(PROTOCOLS.map(async (protocol) => (await connected(urlOf(protocol))).socket.destroy()));
    await app.anonymous.get('/live');
    refusedBefore = await refusedSoFar();
    const since = performance.now();
    stopped = app.close().then(() => performance.now() - since);
    await vi.waitFor(() => expect(app.application.app.server.listening).toBe(false));
    for (const protocol of PROTOCOLS) {
      for (const [what, bytes] of asked) connections.get(`${protocol} ${what}`)!.socket.write(bytes);
      connections.get(`${protocol} in progress`)!.socket.write('}');
      connections.get(`${protocol} unread`)!.socket.resume();
    }
    for (const [name, { ended }] of connections) responses.set(name, await ended);
  }, 60_000);
  afterAll(() => stopped);

  const cases = PROTOCOLS.flatMap((protocol) => asked.map((one) => [protocol, ...one] as const));
  it.each(cases)('over %s to %s gets 503 in the form of its route', (protocol, what, _bytes, media, body) => {
    const { status, headers, body: text } = responses.get(`${protocol} ${what}`)!;
    expect([status, headers]).toMatchObject([
      503,
      {
        'content-type': media,
        'retry-after': '2',
        connection: 'close',
        'cache-control': 'no-store',
        'x-request-id': ID,
        'x-content-type-options': 'nosniff',
      },
    ]);
    expect(text === '' ? undefined : JSON.parse(text)).toEqual(body);
  });

  it.each(PROTOCOLS)('over %s does not hinder one that began before, whose connection then ends', (protocol) => {
    const { status, headers, body } = responses.get(`${protocol} in progress`)!;
    expect([status, headers['connection'], JSON.parse(body)]).toMatchObject([
      400,
      'close',
      { code: 'validation_failed' },
    ]);
  });

  it.each(PROTOCOLS)('over %s does not cut off a response that is being read', (protocol) => {
    const { status, headers, body } = responses.get(`${protocol} unread`)!;
    expect([status, String(body.length)]).toEqual([200, headers['content-length']]);
  });

  it.each(PROTOCOLS)('cannot come over %s on a connection that was idle', (protocol) => {
    expect(responses.get(`${protocol} idle`)!.status).toBe(200);
  });

  it('does not delay the stop', async () => {
    expect(await stopped).toBeLessThan(DRAIN_MS / 4);
  });

  it('is logged and counted', async () => {
    await stopped;
    const logged = lines.filter(({ msg, status }) => msg === 'request' && status === 503);
    // Probes are logged at level `debug`.
    expect(logged).toHaveLength(cases.filter(([, what]) => what !== 'a probe').length);
    expect(logged).toContainEqual(
      expect.objectContaining({ requestId: ID, method: 'GET', route: '/api/v1/admin/alerts', status: 503 }),
    );
    expect((await refusedSoFar()) - refusedBefore).toBe(PROTOCOLS.length);
  });
});

it('a connection ends with its response, also if the headers were sent before the stop', async () => {
  const streamed = new PassThrough();
  const server = fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
  refuseWhileClosing(server);
  server.get('/', async () => streamed);
  const { socket, ended } = await connected(await server.listen({ port: 0, host: '127.0.0.1' }));
  socket.write(sent('GET', '/'));
  streamed.write('first');
  await once(socket, 'data');
  const closed = server.close();
  await vi.waitFor(() => expect(server.server.listening).toBe(false));
  streamed.end('last');
  const { status, body } = await ended;
  expect([status, body]).toEqual([200, expect.stringMatching(/first[\s\S]*last[\s\S]*0\r\n\r\n$/)]);
  await closed;
}, 10_000);

it('a request that needs most of the drain time still gets its response', async () => {
  const drainMs = 4_000;
  const app = await startApp({ drainMs });
  const each = await Promise.all([app.url, app.tlsUrl].map(connected));
  for (const { socket } of each)
    socket.write(`${sent('POST', '/api/v1/auth/login', 'content-type: application/json\r\ncontent-length: 2\r\n')}{`);
  await (
    await app.anonymous.get('/live')
  ).body;
  const stopped = app.close();
  await new Promise((resolve) => setTimeout(resolve, 0.75 * drainMs));
  for (const { socket } of each) socket.write('}');
  const responses = await Promise.all(each.map(({ ended }) => ended));
  expect(responses.map(({ status }) => status)).toEqual([400, 400]);
  await stopped;
}, 20_000);
