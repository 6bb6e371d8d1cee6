import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp } from '../../dsl/app.ts';
import { rawRequest, sendRaw } from '../../dsl/raw-http.ts';
import { ERROR_SCHEMA, newScimClient, SCIM_USERS, scimAs } from '../../dsl/scim.ts';

const SCIM_BODY = 'content-type: application/scim+json\r\n';
const TOKEN = '/oauth/token';

/** What Node or Fastify refuses, and with which status: on any path, as the connector of an identity provider sends it. */
const refusals: readonly (readonly [string, (path: string) => string, number])[] = [
  ['a malformed percent escape', (path) => rawRequest('GET', `${path}/%E0%A4%A`), 400],
  ['headers without end', (path) => rawRequest('GET', path, `x-a: ${'a'.repeat(20_000)}\r\n`), 431],
  ['an address without end', (path) => rawRequest('GET', `${path}?filter=${'a'.repeat(20_000)}`), 431],
  ['a control character in a header', (path) => rawRequest('GET', path, 'x-a: \u0001\r\n'), 400],
  ['a length that is no number', (path) => rawRequest('POST', path, `${SCIM_BODY}content-length: two\r\n`, '{}'), 400],
  [
    'a chunk without a size',
    (path) => rawRequest('POST', path, `${SCIM_BODY}transfer-encoding: chunked\r\n`, 'zz\r\n{}\r\n0\r\n\r\n'),
    400,
  ],
  ['no host', (path) => `GET ${path} HTTP/1.1\r\nconnection: close\r\n\r\n`, 400],
  ['another expectation', (path) => rawRequest('POST', path, 'expect: a-miracle\r\ncontent-length: 0\r\n'), 417],
  ['a method that HTTP does not have', (path) => rawRequest('FETCH', path), 400],
  ['a path that there is not', (path) => rawRequest('GET', `${path}/nowhere/at/all`), 404],
];

describe('OP-221: what is refused before a route is found has the form of its protocol', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  // Over TLS Node does not say how headers began that are larger than a record.
  const cases = refusals.flatMap(([what, bytes, status]) =>
    (status === 431 ? (['http'] as const) : (['http', 'https'] as const)).map(
      (protocol) => [what, protocol, bytes, status] as const,
    ),
  );
  const urlOf = (protocol: 'http' | 'https') => (protocol === 'http' ? app.url : app.tlsUrl);

  it.each(cases)('%s, over %s, of SCIM', async (_what, protocol, bytes, status) => {
    const refused = await sendRaw(urlOf(protocol), bytes(SCIM_USERS));
    expect([refused.status, refused.headers['content-type'], JSON.parse(refused.body)]).toMatchObject([
      status,
      'application/scim+json; charset=utf-8',
      { schemas: [ERROR_SCHEMA], status: String(status), detail: expect.stringMatching(/./) },
    ]);
  });

  it('a parameter that is too long, and a body that is too large or of another type, of SCIM', async () => {
    const post = (headers: string) => rawRequest('POST', SCIM_USERS, headers, '<a/>');
    for (const [status, bytes] of [
      [414, rawRequest('GET', `${SCIM_USERS}/${'a'.repeat(400)}`)],
      [401, post('content-type: text/xml\r\ncontent-length: 4\r\n')],
      [401, post(`${SCIM_BODY}content-length: 9000000\r\n`)],
    ] as const) {
      const refused = await sendRaw(app.url, bytes);
      expect([refused.status, JSON.parse(refused.body)]).toMatchObject([status, { schemas: [ERROR_SCHEMA] }]);
    }
  });

  it.each(cases)('%s, over %s, of OAuth', async (_what, protocol, bytes, status) => {
    const refused = await sendRaw(urlOf(protocol), bytes(TOKEN));
    expect([refused.status, refused.headers['content-type'], JSON.parse(refused.body)]).toEqual([
      status,
      'application/json; charset=utf-8',
      {
        error: 'invalid_request',
        errorDescription: expect.stringMatching(/./),
        error_description: expect.stringMatching(/./),
      },
    ]);
  });

  it('names the parameter that is wrong, as a filter, also where no handler sees it', async () => {
    const tenant = await app.newTenant();
    const scim = await scimAs(app, await newScimClient(tenant));
    const refused = await scim.get(`${SCIM_USERS}?filter=%FF`);
    expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidFilter']);
  });

  it('a path that only begins like one of SCIM has the common form', async () => {
    const refused = await sendRaw(app.url, rawRequest('GET', '/scimitar', `x-a: ${'a'.repeat(20_000)}\r\n`));
    expect(Object.keys(JSON.parse(refused.body) as object)).toEqual(['error', 'code', 'fields', 'requestId']);
  });
});
