import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_HEADERS, EXPOSED_HEADERS } from '../../src/app/http/plugins/cors.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { enrolledDevice } from '../dsl/enrolled-device.ts';
import { newOrganization } from '../dsl/organization.ts';
import { everyRoute, named, pathWith } from './every-route.ts';

const DASHBOARD = 'https://dashboard.example';
/** They differ from one request to the next, or describe a body that `HEAD` may leave undescribed. */
const VARIABLE = [
  'date',
  'x-request-id',
  'x-log-position',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
];

describe('HTTP conventions', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp({ corsAllowedOrigins: [DASHBOARD] });
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const headersOf = (headers: Headers) =>
    Object.fromEntries([...headers].filter(([name]) => !VARIABLE.includes(name) && !name.startsWith('x-ratelimit')));

  it('HEAD has status and headers of GET, without a body, on every route', async () => {
    const differing: unknown[] = [];
    for (const route of everyRoute.filter(({ method }) => method === 'GET')) {
      const path = pathWith(route, randomUUID());
      const [got, head] = [await tenant.admin.get(path), await tenant.admin.send('HEAD', path)];
      // Each start of a sign-in and each export has values of its own.
      const names = (headers: Headers) => Object.keys(headersOf(headers)).sort();
      if (got.status !== head.status || head.text !== '' || names(got.headers).join() !== names(head.headers).join())
        differing.push([named(route), got.status, head.status, names(got.headers), names(head.headers)]);
    }
    expect(differing).toEqual([]);
    const [got, head] = [
      await tenant.admin.get('/api/v1/admin/me'),
      await tenant.admin.send('HEAD', '/api/v1/admin/me'),
    ];
    expect(headersOf(head.headers)).toEqual(headersOf(got.headers));
    expect(head.headers.get('content-length')).toBe(got.headers.get('content-length'));
    for (const path of ['/openapi.json', '/docs']) expect((await app.anonymous.send('HEAD', path)).status).toBe(200);
  });

  it('HEAD is answered on the TLS listener, too', async () => {
    const status = await new Promise((resolve, reject) => {
      request(`${app.tlsUrl}/health`, { method: 'HEAD', rejectUnauthorized: false, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it('401 names the way to authenticate, on every route that needs a credential (RFC 9110 §15.5.2)', async () => {
    for (const route of everyRoute.filter(({ access }) => access.kind !== 'open')) {
      const path = pathWith(route, randomUUID());
      const scheme = route.access.kind === 'device' ? 'ClientCertificate' : 'Bearer';
      const plain = await app.anonymous.send(route.method, path);
      expect([named(route), plain.status, plain.headers.get('www-authenticate')]).toEqual([
        named(route),
        401,
        `${scheme} realm="castellan"`,
      ]);
      const broken = await app.as('nonsense').send(route.method, path);
      expect(broken.headers.get('www-authenticate')).toBe(
        scheme === 'Bearer' ? 'Bearer realm="castellan", error="invalid_token"' : 'ClientCertificate realm="castellan"',
      );
    }
    const login = await app.anonymous.post('/api/v1/auth/login', {
      tenantId: tenant.tenantId,
      email: tenant.email,
      password: 'wrong password',
    });
    expect([login.status, login.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="castellan"']);
  });

  it('refuses a credential beside the id of another tenant, or beside none, on every route (OP-030)', async () => {
    for (const route of everyRoute.filter(({ access }) => access.kind === 'admin')) {
      const path = pathWith(route, randomUUID());
      for (const named of [randomUUID(), 'acme']) {
        const { status, body } = await tenant.admin.send(route.method, path, { headers: { 'x-tenant-id': named } });
        // 403: the route asks for a re-authentication first.
        if (status !== 403) expect([status, body.fields?.[0]?.field]).toEqual([400, 'X-Tenant-ID']);
      }
    }
    const org = await newOrganization(app);
    const device = await enrolledDevice(app, tenant);
    for (const [client, path, own] of [
      [tenant.admin, '/api/v1/admin/me', tenant.tenantId],
      [org.owner, '/api/v1/org/me', org.organizationId],
      [device.client, '/api/v1/ext/policies', tenant.tenantId],
    ] as const) {
      expect((await client.get(path, { headers: { 'x-tenant-id': own.toUpperCase() } })).status).toBe(200);
      expect((await client.get(path, { headers: { 'x-tenant-id': randomUUID() } })).status).toBe(400);
    }
  });

  it('304 has the headers of the state that the client keeps (RFC 9110 §15.4.5)', async () => {
    const path = '/api/v1/admin/settings';
    const shown = await tenant.admin.get(path);
    const tag = shown.headers.get('etag')!;
    const kept = await tenant.admin.get(path, { headers: { 'if-none-match': tag } });
    const names = ['etag', 'cache-control', 'x-ratelimit-limit'];
    expect([kept.status, kept.text]).toEqual([304, '']);
    expect(names.map((name) => kept.headers.get(name))).toEqual(names.map((name) => shown.headers.get(name)));
  });

  it('marks a read as stale if the read models did not reach the position in time', async () => {
    const position = String((await app.services.store.head()) + 1_000n);
    const late = await tenant.admin.get('/api/v1/admin/users', { headers: { 'x-log-position': position } });
    expect([late.status, late.headers.get('x-stale')]).toEqual([200, 'true']);
    const missing = await tenant.admin.get(`/api/v1/admin/users/${randomUUID()}`, {
      headers: { 'x-log-position': position },
    });
    expect([missing.status, missing.headers.get('x-stale')]).toEqual([404, 'true']);
    await app.settled();
    const reached = String(await app.services.store.head());
    const fresh = await tenant.admin.get('/api/v1/admin/users', { headers: { 'x-log-position': reached } });
    expect(fresh.headers.get('x-stale')).toBeNull();
  });

  it('ignores members and query parameters that it does not know, and counts a large page as 100', async () => {
    const email = `${randomUUID()}@acme.example`;
    const created = await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'T', departmnt: 'Sales' });
    expect([created.status, created.body.department]).toEqual([201, null]);
    const { body } = await tenant.admin.get('/api/v1/admin/users?pagesize=1');
    expect(body.pageSize).toBe(20);
    expect((await tenant.admin.get('/api/v1/admin/users?page_size=101')).body.pageSize).toBe(100);
    expect((await tenant.admin.get('/api/v1/admin/users?page_size=0')).status).toBe(400);
  });

  it('has every header that scripts may send or read in its document', () => {
    const document = readFileSync('docs/reference/api-conventions.md', 'utf8');
    const usual = ['Authorization', 'Content-Type'];
    const named = [...ALLOWED_HEADERS, ...EXPOSED_HEADERS].filter((header) => !usual.includes(header));
    expect(named.filter((header) => !document.includes(`| \`${header}`))).toEqual([]);
  });

  const preflight = (origin: string, path = '/api/v1/admin/policies') =>
    app.anonymous.send('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,if-match',
      },
    });

  it.each(['/api/v1/admin/users', '/nowhere', '/openapi.json', '/scim/v2/Users'])(
    'refuses a preflight request without its headers in the usual form: %s',
    async (path) => {
      const { status, body } = await app.anonymous.send('OPTIONS', path, { headers: { origin: DASHBOARD } });
      expect([status, body.error]).toEqual([400, expect.stringContaining('Access-Control-Request-Method')]);
    },
  );

  it('lets scripts of a listed origin call the API, and read its headers', async () => {
    const asked = await preflight(DASHBOARD);
    expect([asked.status, asked.text]).toEqual([204, '']);
    expect(asked.headers.get('access-control-allow-origin')).toBe(DASHBOARD);
    expect(asked.headers.get('access-control-allow-credentials')).toBe('true');
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/authorization.*if-match.*x-reauth-token/i);
    const allowed = asked.headers.get('access-control-allow-methods')!.split(', ');
    expect([...new Set(everyRoute.map(({ method }) => method))].filter((method) => !allowed.includes(method))).toEqual(
      [],
    );

    for (const answer of [
      await tenant.admin.get('/api/v1/admin/settings', { headers: { origin: DASHBOARD } }),
      await app.anonymous.get('/api/v1/admin/settings', { headers: { origin: DASHBOARD } }),
      await app.anonymous.get('/nowhere', { headers: { origin: DASHBOARD } }),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(DASHBOARD);
      expect(answer.headers.get('access-control-expose-headers')).toMatch(
        /etag.*retry-after.*x-log-position.*x-stale/i,
      );
      expect(answer.headers.get('vary')).toMatch(/origin/i);
    }
  });

  it('gives every other origin nothing', async () => {
    for (const origin of [
      'https://evil.example',
      `${DASHBOARD}.evil.example`,
      'null',
      'http://dashboard.example',
      `${DASHBOARD}:8443`,
    ]) {
      const [asked, got] = [
        await preflight(origin),
        await tenant.admin.get('/api/v1/admin/settings', { headers: { origin } }),
      ];
      for (const { headers } of [asked, got]) {
        expect(headers.get('access-control-allow-origin')).toBeNull();
      }
      expect(got.status).toBe(200);
    }
  });
});
