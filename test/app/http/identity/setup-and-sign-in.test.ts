import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTenant } from '../../../../src/app/cli/tenants.ts';
import { PASSWORD, startApp, type TestApp } from '../../../dsl/app.ts';
import { licenseKey } from '../../../dsl/licenses.ts';

describe('set-up and sign-in over HTTP', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const good = () => ({
    email: 'first@acme.example',
    password: PASSWORD,
    displayName: 'First Admin',
    licenseKey: licenseKey(),
    externalBaseUrl: 'https://castellan.acme.example',
  });

  it.each([
    ['email', 'not-an-address'],
    ['password', 'Short-1!'],
    ['password', 'no-upper-case-1!'],
    ['password', 'NO-LOWER-CASE-1!'],
    ['password', 'No-Digit-At-All!'],
    ['password', 'NoSpecialChar123'],
    ['password', 'Password123!'],
    ['password', 'First-Admin-2026!'],
    ['displayName', 'x'],
    ['displayName', 'x'.repeat(101)],
    ['licenseKey', 'nodot'],
    ['licenseKey', `${licenseKey().split('.')[0]}.${'A'.repeat(86)}`],
    ['licenseKey', licenseKey({ expiresAt: new Date(Date.now() - 1_000).toISOString() })],
    ['externalBaseUrl', 'ftp://castellan.example'],
    ['externalBaseUrl', 'castellan.example'],
  ])('rejects set-up with an invalid %s and creates nothing', async (field, value) => {
    const answer = await app.anonymous.post('/api/v1/setup/complete', { ...good(), [field]: value });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(field);
    expect((await app.anonymous.get('/api/v1/setup/status')).body).toEqual({ needsSetup: true, devMode: false });
  });

  it('rejects a license and a password together', async () => {
    const wrong = { ...good(), licenseKey: 'nodot', password: 'First-Admin-2026!' };
    const { status, body } = await app.anonymous.post('/api/v1/setup/complete', wrong);
    expect([status, body.fields.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['licenseKey', 'password'],
    ]);
  });

  it('rejects a license and a password beside wrong fields', async () => {
    const wrong = { ...good(), licenseKey: 'nodot', password: 'First-Admin-2026!', email: 5, displayName: 'First' };
    const { status, body } = await app.anonymous.post('/api/v1/setup/complete', wrong);
    const fields = body.fields.map(({ field }: { field: string }) => field).sort();
    expect([status, fields]).toEqual([400, ['email', 'licenseKey', 'password']]);
  });

  it('says that there is no tenant to sign in to', async () => {
    const { status, body } = await app.anonymous.get('/api/v1/auth/tenant');
    expect([status, body.code]).toEqual([404, 'not_set_up']);
  });

  it('completes once for fifty concurrent requests, and never again', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        app.anonymous.post('/api/v1/setup/complete', { ...good(), email: `admin${n}@acme.example` }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(49);
    const { body } = answers.find(({ status }) => status === 201)!;
    expect(body).toMatchObject({
      clientName: 'Acme',
      tier: 'enterprise',
      maxUsers: 10_000,
      user: { roleType: 'super_admin', status: 'active' },
    });
    expect((await app.anonymous.get('/api/v1/setup/status')).status).toBe(403);
    const me = await app.as(body.accessToken).get('/api/v1/admin/me');
    expect(me.status).toBe(200);
    expect(me.body.tenant.id).toBe(body.tenantId);
    expect((await app.anonymous.get('/api/v1/auth/tenant')).body).toMatchObject({
      tenantId: body.tenantId,
      slug: 'acme',
    });
  });

  describe('of a tenant', () => {
    it('signs in, refreshes once, and ends all tokens of the family when one is reused', async () => {
      const { tenantId, email, admin, adminId } = await app.newTenant();
      const signIn = await app.anonymous.post(
        '/api/v1/auth/login',
        { email, password: PASSWORD },
        { headers: { 'x-tenant-id': tenantId } },
      );
      expect(signIn.status).toBe(200);
      const first = signIn.body;
      const second = (await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: first.refreshToken })).body;
      const third = (await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: second.refreshToken })).body;
      expect((await app.as(third.accessToken).get('/api/v1/admin/me')).status).toBe(200);
      // No longer the direct parent of the newest token: a copy.
      expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: first.refreshToken })).status).toBe(401);
      expect((await app.as(third.accessToken).get('/api/v1/admin/me')).status).toBe(401);
      expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: third.refreshToken })).status).toBe(401);
      const [alert, ...others] = await vi.waitUntil(async () => {
        const { alerts } = (await admin.get('/api/v1/admin/alerts')).body;
        return alerts.length > 0 && alerts;
      }, 10_000);
      expect(others).toEqual([]);
      expect(alert).toMatchObject({
        alertType: 'policy_violation',
        severity: 'high',
        metadata: { kind: 'refresh_token_reuse', adminId },
      });
    });

    it('responds to a wrong password and an unknown e-mail alike, and locks both after five attempts', async () => {
      const { tenantId, email } = await app.newTenant();
      const attempt = (who: string, password: string) =>
        app.anonymous.post('/api/v1/auth/login', { email: who, password, tenantId });
      for (const who of [email, 'nobody@acme.example']) {
        const answers = await Promise.all(Array.from({ length: 30 }, () => attempt(who, 'wrong-password')));
        expect(
          new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify({ ...body, requestId: null })}`)),
        ).toEqual(
          new Set(['401 {"error":"invalid credentials","code":"invalid_credentials","fields":[],"requestId":null}']),
        );
      }
      const { rows } = await app.services.database.owner.query(
        `select stream, count(*)::int as tries from events where type = 'LoginAttempted' and tenant_id = $1 group by stream`,
        [tenantId],
      );
      expect(rows.map(({ tries }) => tries)).toEqual([10, 10]);
    });

    it('reveals nothing to a client with the right password once all attempts are used', async () => {
      const { tenantId, email } = await app.newTenant();
      const attempt = (password: string) => app.anonymous.post('/api/v1/auth/login', { email, password, tenantId });
      await Promise.all(Array.from({ length: 10 }, () => attempt('wrong-password')));
      const right = await attempt(PASSWORD);
      expect([right.status, right.body]).toEqual([401, expect.objectContaining({ error: 'invalid credentials' })]);
    });

    it('reports "account locked" only after the right password', async () => {
      const { tenantId, email } = await app.newTenant();
      const attempt = (password: string) => app.anonymous.post('/api/v1/auth/login', { email, password, tenantId });
      for (let n = 0; n < 5; n += 1) await attempt('wrong-password');
      expect((await attempt('wrong-password')).status).toBe(401);
      const right = await attempt(PASSWORD);
      expect([right.status, right.body.error]).toEqual([403, 'account locked']);
    });

    it('makes the first admin of a tenant from the command line choose a password first', async () => {
      const email = 'first@second-tenant.example';
      const made = await createTenant(app.services, {
        name: 'Second',
        email,
        licenseKey: licenseKey({ clientName: 'Second' }),
        baseUrl: 'https://second.example',
      });
      const login = (password: string) =>
        app.anonymous.post('/api/v1/auth/login', { email, password, tenantId: made.tenantId });
      const forced = (await login(made.password)).body;
      expect(forced).toMatchObject({
        mustChangePassword: true,
        userId: expect.any(String),
        message: expect.any(String),
      });
      expect(forced.accessToken).toBeUndefined();
      expect((await app.as(forced.tempToken).get('/api/v1/admin/me')).status).toBe(401);
      const change = (newPassword: string, confirmPassword = newPassword) =>
        app.anonymous.post('/api/v1/auth/change-password', {
          tempToken: forced.tempToken,
          newPassword,
          confirmPassword,
        });
      expect((await change('short')).status).toBe(400);
      for (const guessable of ['Password123!', 'Second-Tenant-1!']) {
        const refused = await change(guessable);
        expect([refused.status, refused.body.error]).toEqual([
          400,
          expect.stringMatching(/^validation failed: newPassword: must not be /),
        ]);
      }
      expect((await change('Another-Horse-8!', 'Another-Horse-9!')).status).toBe(400);
      const answers = await Promise.all(Array.from({ length: 20 }, () => change('Another-Horse-8!')));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
      expect((await login(made.password)).status).toBe(401);
      expect((await login('Another-Horse-8!')).body.accessToken).toEqual(expect.any(String));
    });

    it('ends access and refresh with the session', async () => {
      const { tenantId, email } = await app.newTenant();
      const { body } = await app.anonymous.post('/api/v1/auth/login', { email, password: PASSWORD, tenantId });
      const me = app.as(body.accessToken);
      expect((await me.post('/api/v1/auth/logout')).body).toEqual({ success: true });
      expect((await me.get('/api/v1/admin/me')).status).toBe(401);
      expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: body.refreshToken })).status).toBe(401);
      expect((await me.post('/api/v1/auth/logout')).status).toBe(401);
    });

    it('requires a named, well-formed and consistent tenant', async () => {
      const { tenantId, email } = await app.newTenant();
      const other = await app.newTenant();
      const login = (body: object, header?: string) =>
        app.anonymous.post(
          '/api/v1/auth/login',
          { email, password: PASSWORD, ...body },
          header ? { headers: { 'x-tenant-id': header } } : {},
        );
      expect((await login({})).status).toBe(400);
      expect((await login({}, 'nonsense')).status).toBe(400);
      expect((await login({ tenantId }, other.tenantId)).status).toBe(400);
      expect((await login({ tenantId: other.tenantId })).status).toBe(401);
      expect((await login({ tenantId: '99999999-9999-4999-8999-999999999999' })).status).toBe(401);
    });

    it('accepts a new license, and refuses most of the admin API after the license has expired', async () => {
      const soon = new Date(Date.now() + 1_500).toISOString();
      const { admin } = await app.newTenant({ license: { expiresAt: soon } });
      await new Promise((resolve) => setTimeout(resolve, 1_600));
      const alerts = await admin.get('/api/v1/admin/alerts');
      expect([alerts.status, alerts.body.error]).toEqual([403, 'license expired']);
      expect((await admin.get('/api/v1/admin/settings/license')).body.isExpired).toBe(true);
      expect(
        (await admin.put('/api/v1/admin/settings/license', { licenseKey: licenseKey({ clientName: 'Acme' }) })).status,
      ).toBe(200);
      expect((await admin.get('/api/v1/admin/alerts')).status).toBe(200);
    });
  });
});

describe('at public endpoints', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
    await createTenant(app.services, {
      name: 'Acme',
      email: 'first@acme.example',
      licenseKey: licenseKey(),
      baseUrl: 'https://castellan.acme.example',
    });
  });
  afterAll(() => app.close());

  it('set-up is refused after completion, whatever is sent', async () => {
    for (const body of [{}, { email: 1 }, null])
      expect((await app.anonymous.post('/api/v1/setup/complete', body)).status).toBe(403);
  });

  it('a form is refused as JSON, because any page can make a browser send one', async () => {
    const raw = new URLSearchParams({ email: 'first@acme.example', password: PASSWORD }).toString();
    for (const type of [
      'application/x-www-form-urlencoded',
      'Application/X-WWW-Form-Urlencoded; charset=utf-8',
      'multipart/form-data; boundary=x',
    ]) {
      expect([
        type,
        (await app.anonymous.send('POST', '/api/v1/auth/login', { raw, headers: { 'content-type': type } })).status,
      ]).toEqual([type, 415]);
    }
  });

  it('an empty body is no form, whatever its content type', async () => {
    const { admin } = await app.newTenant();
    const answer = await admin.send('POST', '/api/v1/admin/enrollment/token', {
      raw: '',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.status).toBe(201);
  });

  it('a position that is never reached delays no response', async () => {
    const waits = vi.spyOn(app.services.freshness, 'waitFor');
    await app.anonymous.get('/api/v1/org/auth/sso/status?slug=nowhere', {
      headers: { 'x-log-position': '9'.repeat(19) },
    });
    expect(waits).not.toHaveBeenCalled();
    waits.mockRestore();
  });

  it('an invalid state is refused with a page for browsers', async () => {
    for (const query of [`state=${'x'.repeat(600)}`, 'state=', '']) {
      const answer = await app.anonymous.get(`/api/v1/org/auth/sso/callback?code=c&${query}`);
      expect([answer.status, answer.headers.get('location')]).toEqual([302, '/login?org_sso_error=invalid_state']);
    }
  });

  it('a parameter of a callback that comes twice is named (RFC 6749 §3.1)', async () => {
    for (const path of ['/api/v1/auth/sso/callback', '/api/v1/org/auth/sso/callback'])
      for (const [query, fields] of [
        ['state=a&state=b&code=c', ['state']],
        ['state=a&code=c&code=d&iss=x&iss=x', ['code', 'iss']],
      ] as const) {
        const { status, body } = await app.anonymous.get(`${path}?${query}`);
        expect([path, status, body.fields]).toEqual([
          path,
          400,
          fields.map((field) => ({ field, message: 'must be given once' })),
        ]);
      }
    const page = await app.anonymous.get('/api/v1/auth/sso/callback?state=a&state=b', {
      headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' },
    });
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  });
});
