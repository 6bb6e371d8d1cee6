import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApp } from '../../dsl/app.ts';
import type { Client } from '../../dsl/http-client.ts';

/** A request whose headers are written as they are here: `fetch` would join equal names. */
const raw = (url: string, method: string, path: string, headers: readonly string[]) =>
  new Promise<{ status: number; body: { fields: { field: string; message: string }[] } }>((resolve, reject) => {
    const sent = request(
      new URL(path, url),
      { method, headers: ['host', new URL(url).host, 'content-length', '0', ...headers] },
      (response) => {
        text(response).then((body) => resolve({ status: response.statusCode!, body: JSON.parse(body) }), reject);
      },
    );
    sent.on('error', reject).end();
  });

const NOT_TEXT = 'contains characters that are not text';

describe('a refusal names all that is wrong, each field once:', () => {
  let admin: Client;
  beforeAll(async () => {
    admin = (await (await sharedApp()).newTenant()).admin;
  });
  const fieldsOf = ({ body }: { body: { fields: { field: string; message: string }[] } }) =>
    Object.fromEntries(body.fields.map(({ field, message }) => [field, message]));

  it('a text with NUL beside fields that the schema refuses', async () => {
    const refused = await admin.post('/api/v1/admin/users', { displayName: 'a\0', email: 'none', department: 7 });
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused)).toEqual({
      displayName: NOT_TEXT,
      email: 'is not a valid email',
      department: 'must be of type string',
    });
    expect(refused.body.fields).toHaveLength(3);
  });

  it('a text that is none, and nothing else of it', async () => {
    const refused = await admin.post('/api/v1/admin/users', { displayName: 'A', email: 'a\0' });
    expect(refused.body.fields).toEqual([{ field: 'email', message: NOT_TEXT }]);
  });

  it('the first hundred of many, in their order', async () => {
    const refused = await admin.post('/api/v1/admin/groups', { name: 'x', userIds: Array<string>(300).fill('a\0') });
    expect(refused.body.fields.map(({ field }: { field: string }) => field)).toEqual(
      Array.from({ length: 100 }, (_, at) => `userIds.${at}`),
    );
  });

  it('the fields of the route before hundreds that it does not know', async () => {
    const refused = await admin.post('/api/v1/admin/users', { email: 5, junk: Array<string>(300).fill('a\0') });
    const fields = refused.body.fields.map(({ field }: { field: string }) => field);
    expect([fields.length, ...fields.slice(0, 3)]).toEqual([100, 'email', 'displayName', 'junk.0']);
  });

  it('a form whose fields come twice, and what is missing in it', async () => {
    const form = new FormData();
    for (const name of ['version', 'signature', 'version', 'signature']) form.append(name, 'zz');
    const raw = new Response(form);
    const headers = { 'content-type': raw.headers.get('content-type')! };
    const refused = await admin.send('POST', '/api/v1/admin/users/import', {
      raw: Buffer.from(await raw.arrayBuffer()),
      headers,
    });
    expect([refused.status, fieldsOf(refused)]).toEqual([
      400,
      { file: 'is required', version: 'must be given once', signature: 'must be given once' },
    ]);
  });

  it('the head of a pack of signatures, and what is in it', async () => {
    const form = new FormData();
    form.append('file', new Blob([JSON.stringify({ name: 7, version: '1', signatures: [{ severity: 'none' }] })]), 'p');
    const raw = new Response(form);
    const refused = await admin.send('POST', '/api/v1/admin/signatures/upload', {
      raw: Buffer.from(await raw.arrayBuffer()),
      headers: { 'content-type': raw.headers.get('content-type')! },
    });
    expect(Object.keys(fieldsOf(refused))).toEqual(
      expect.arrayContaining(['name', 'signatures.0.name', 'signatures.0.severity']),
    );
  });

  it('parameters that are not text beside wrong ones', async () => {
    const refused = await admin.get('/api/v1/admin/users?search=%FF&page=x&page_size=%00&status=none');
    expect(refused.status).toBe(400);
    expect(Object.keys(fieldsOf(refused)).sort()).toEqual(['page', 'page_size', 'search', 'status']);
  });

  it('parameters that are given twice', async () => {
    const refused = await admin.get('/api/v1/admin/users?status=active&status=inactive&page=1&page=2');
    expect(fieldsOf(refused)).toEqual({ status: 'must be given once', page: 'must be given once' });
  });

  it('headers that are given twice, also with the same value', async () => {
    const app = await sharedApp();
    const { admin: other, tenantId, token } = await app.newTenant();
    expect((await other.get('/api/v1/admin/groups', { headers: { 'x-tenant-id': tenantId } })).status).toBe(200);
    const twice = (name: string, value: string) => [name, value, name, value];
    const { status, body } = await raw(app.url, 'POST', '/api/v1/admin/groups', [
      'authorization',
      `Bearer ${token}`,
      ...twice('X-Tenant-ID', tenantId),
      ...twice('X-Log-Position', '1'),
      ...twice('Idempotency-Key', 'key'),
    ]);
    const once = 'must be given once';
    expect([status, fieldsOf({ body })]).toEqual([
      400,
      { 'X-Tenant-ID': once, 'X-Log-Position': once, 'Idempotency-Key': once, name: 'is required' },
    ]);
    const signIn = await raw(app.url, 'POST', '/api/v1/auth/login', twice('x-tenant-id', tenantId));
    expect([signIn.status, fieldsOf(signIn)]).toMatchObject([400, { 'X-Tenant-ID': once }]);
  });

  it('two faults of one field', async () => {
    const expiresAt = 'x'.repeat(30);
    const refused = await admin.post('/api/v1/admin/scim/clients', { name: 'x', expiresAt });
    expect(refused.body.fields).toEqual([{ field: 'expiresAt', message: 'is not a valid datetime' }]);
  });

  it('an address in another script, with the way to write it', async () => {
    const created = { email: 'ann@b\u00fccher.example', displayName: 'Ann', roleType: 'analyst' };
    const refused = await admin.post('/api/v1/admin/admin-users', created);
    expect(refused.body.fields[0]).toEqual({
      field: 'email',
      message: 'is not a valid email: a host in another script is written as xn--…',
    });
  });

  it('a page that no list can have', async () => {
    const refused = await admin.get('/api/v1/admin/users?page=1000000000');
    expect([refused.status, fieldsOf(refused)]).toEqual([400, { page: 'must be a whole number from 1 to 999999999' }]);
  });

  it('headers, parameters and fields', async () => {
    const refused = await admin.send('POST', '/api/v1/admin/users', {
      body: { email: 5, displayName: 'Ann' },
      headers: { 'x-log-position': '-1', 'x-tenant-id': randomUUID(), 'idempotency-key': 'a b' },
    });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('X-Tenant-ID')]);
    expect(fieldsOf(refused)).toEqual({
      'X-Tenant-ID': 'contradicts the credential: leave it out, or name its tenant',
      'X-Log-Position': 'must be a position that a response had',
      'Idempotency-Key': 'must be 1 to 200 printable characters',
      email: 'must be of type string',
    });
    expect(
      Object.keys(fieldsOf(await admin.get('/api/v1/admin/users?page=x', { headers: { 'x-log-position': 'x' } }))),
    ).toEqual(['X-Log-Position', 'page']);
  });

  it('a condition that is none beside wrong fields', async () => {
    const refused = await admin.put(
      '/api/v1/admin/threat-intel/settings',
      { scannerEnabled: 7 },
      { headers: { 'if-match': 'x' } },
    );
    expect(Object.keys(fieldsOf(refused))).toEqual(['If-Match', 'scannerEnabled']);
  });

  it('the tenant of a sign-in, which header or body may name', async () => {
    const client = (await sharedApp()).anonymous;
    const login = (body: object, headers: Record<string, string> = {}) =>
      client.send('POST', '/api/v1/auth/login', { body, headers });
    expect(Object.keys(fieldsOf(await login({})))).toEqual(['X-Tenant-ID', 'email', 'password']);
    const other = { 'x-tenant-id': randomUUID() };
    expect(fieldsOf(await login({ email: 'x', password: 'long enough', tenantId: randomUUID() }, other))).toEqual({
      tenantId: 'differs from X-Tenant-ID',
      email: 'is not a valid email',
    });
  });

  it('parameters beside a body that is no JSON', async () => {
    const refused = await admin.send('POST', `/api/v1/admin/directory-sources/${randomUUID()}/sync?dryRun=maybe`, {
      raw: Buffer.from('{"a":'),
      headers: { 'content-type': 'application/json' },
    });
    expect([refused.status, refused.body.code]).toEqual([400, 'malformed_json']);
    expect(fieldsOf(refused)).toEqual({ body: 'is not valid JSON', dryRun: 'must be one of true, false' });
  });

  it.each([
    ['bytes that are no UTF-8', 'SAMLResponse=%FF&RelayState=a%00b', ['SAMLResponse', 'RelayState']],
    ['the name of a field that is none', '%FF=1', ['SAMLResponse', 'body']],
    ['a field that comes twice', 'SAMLResponse=a&SAMLResponse=b', ['SAMLResponse']],
    ['bytes without escapes', Buffer.from('SAMLResponse=\xff', 'latin1'), ['body']],
  ])('of a form: %s', async (_what, raw, names) => {
    const refused = await (
      await sharedApp()
    ).anonymous.send('POST', '/api/v1/auth/saml/callback', {
      raw: Buffer.from(raw as string),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([refused.status, Object.keys(fieldsOf(refused))]).toEqual([400, names]);
    if (names.length === 1 && names[0] === 'SAMLResponse')
      expect(fieldsOf(refused)).toEqual({ SAMLResponse: 'must be given once' });
  });

  it('of a token that is asked about: text that is none', async () => {
    const refused = await (
      await sharedApp()
    ).anonymous.send('POST', '/oauth/introspect', {
      raw: Buffer.from('token=%FF'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([refused.status, refused.body]).toEqual([
      400,
      expect.objectContaining({ error: 'invalid_request', errorDescription: expect.stringContaining('token') }),
    ]);
  });

  it('of a provider: addresses without TLS, two sources of metadata, and other fields', async () => {
    const saml = { protocol: 'saml', idpEntityId: 'x', idpCertificate: 'none', idpSsoUrl: 'x', idpSloUrl: 'y' };
    const created = await admin.post('/api/v1/admin/sso-configs', saml);
    expect(Object.keys(fieldsOf(created)).sort()).toEqual(['idpCertificate', 'idpSloUrl', 'idpSsoUrl']);
    const both = { metadata: '<a/>', metadataUrl: 'https://idp.example/', name: 7 };
    expect(fieldsOf(await admin.post('/api/v1/admin/sso-configs/import', both))).toEqual({
      metadata: 'give either metadata or metadataUrl',
      name: 'must be of type string',
    });
  });

  it('of pasted metadata: what cannot be read, beside the name of a provider that is too long', async () => {
    const pasted = { metadata: '<x', entityId: 'x'.repeat(2_000) };
    for (const send of [
      () => admin.post('/api/v1/admin/sso-configs/import', pasted),
      () => admin.put(`/api/v1/admin/sso-configs/${randomUUID()}/metadata`, pasted),
    ])
      expect(fieldsOf(await send())).toEqual({
        metadata: 'is not well-formed',
        entityId: expect.stringContaining('must be at most'),
      });
  });

  it.each(['{"__proto__":{"name":"x"}}', '{"name":"x","constructor":{"prototype":1}}', '{"a":[{"__proto__":1}]}'])(
    'of JSON with the class of an object: %s',
    async (body) => {
      const { status, body: refused } = await admin.send('POST', '/api/v1/admin/groups', {
        raw: body,
        headers: { 'content-type': 'application/json' },
      });
      expect([status, refused.code, fieldsOf({ body: refused })]).toEqual([
        400,
        'malformed_json',
        { body: 'must have no member __proto__, and no constructor with a member prototype' },
      ]);
    },
  );

  it('the media type, where no body is needed', async () => {
    for (const [method, path] of [
      ['DELETE', `/api/v1/admin/users/${randomUUID()}`],
      ['PUT', `/api/v1/admin/alerts/${randomUUID()}/claim`],
    ] as const) {
      const headers = { 'content-type': 'text/plain' };
      const { status, body } = await admin.send(method, path, { raw: 'abc', headers });
      expect([path, status, fieldsOf({ body })]).toEqual([
        path,
        415,
        { 'Content-Type': 'must be absent, or application/json in UTF-8: no body is needed' },
      ]);
    }
  });

  it('the plus of an offset, which an address loses', async () => {
    const refused = await admin.get('/api/v1/admin/alerts?start_date=2026-01-01T00:00:00+02:00');
    expect(fieldsOf(refused)).toEqual({
      start_date:
        'must be an RFC 3339 timestamp or a YYYY-MM-DD day: the + of an offset is written as %2B in an address',
    });
  });

  it('the encoding of a form', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b; charset=utf-16' };
    const refused = await admin.send('POST', '/api/v1/admin/users/import', { raw: '--b--', headers });
    expect([refused.status, fieldsOf(refused)]).toEqual([
      415,
      { 'Content-Type': 'must be multipart/form-data, in UTF-8' },
    ]);
  });

  it('of an upload: text that is no UTF-8', async () => {
    const part = (name: string, value: string) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const refused = await admin.send('POST', '/api/v1/admin/users/import', {
      raw: Buffer.from(`${part('version', '\xff')}--b--\r\n`, 'latin1'),
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
    expect(fieldsOf(refused)).toEqual({ file: 'is required', version: 'must be UTF-8 text' });
  });
});
