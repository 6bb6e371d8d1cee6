import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { tenant, tenantStream } from '../../../../src/contexts/tenants/domain/tenant.ts';
import { startApp, type TestApp, type TestResponse, type TestTenant } from '../../../dsl/app.ts';
import {
  startOpenIdProvider,
  type OpenIdProviderOptions,
  type TestOpenIdProvider,
} from '../../../dsl/openid-provider.ts';
import { cookiesOf, startsSignIn, returnsFromProvider } from '../../../dsl/sso-browser.ts';

const CALLBACK = '/api/v1/auth/sso/callback';
const LOGIN = '/api/v1/auth/sso/login';
const LOGOUT = '/api/v1/auth/sso/logout';
const CONFIGS = '/api/v1/admin/sso-configs';
const redirectUris = [`https://castellan.example${CALLBACK}`];

let app: TestApp;
let acme: TestTenant;
let provider: TestOpenIdProvider;
beforeAll(async () => {
  app = await startApp({ devMode: true });
  provider = await startOpenIdProvider({ redirectUris });
});
beforeEach(async () => {
  acme = await app.newTenant();
});
afterAll(async () => {
  await provider?.close();
  await app?.close();
});

const configure = async (peer: TestOpenIdProvider = provider, over: object = {}): Promise<{ id: string }> => {
  const { issuer: issuerUrl, clientId, clientSecret } = peer;
  const answer = await acme.admin.post(CONFIGS, { issuerUrl, clientId, clientSecret, ...over });
  expect(answer.status).toBe(201);
  return answer.body;
};
const loginPath = (over: Record<string, string> = {}) =>
  `${LOGIN}?${new URLSearchParams({ tenant_id: acme.tenantId, ...over }).toString()}`;
/** A round trip through the provider. */
const signIn = async (peer: TestOpenIdProvider = provider, over: Record<string, string> = {}) => {
  const { address, cookie } = await startsSignIn(app.anonymous, loginPath(over));
  const back = await peer.visit(address.href);
  return { back, cookie, answer: await returnsFromProvider(app.anonymous, back.pathname, back.searchParams, cookie) };
};
const refusals = async () => {
  await app.settled();
  const { body } = await acme.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused');
  return body.auditLogs as { details: { reason: string; detail: string | null; subjectId: string | null } }[];
};

describe('a single sign-on over OpenID Connect', () => {
  it('returns tokens to the admin with the verified e-mail of the provider, and audits the method', async () => {
    await configure();
    provider.signsIn({ email: acme.email.toUpperCase() });
    const { answer, back } = await signIn();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresAt: expect.any(String),
      user: { id: acme.adminId, email: acme.email, displayName: 'Owner', roleType: 'super_admin' },
    });
    expect((await app.as(answer.body.accessToken).get('/api/v1/admin/me')).body.id).toBe(acme.adminId);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: answer.body.refreshToken })).status).toBe(
      200,
    );
    expect(back.href).not.toContain(answer.body.accessToken);
    await app.settled();
    const log = await acme.admin.get('/api/v1/admin/audit-log?action=session.started');
    expect(log.body.auditLogs[0].details).toMatchObject({ method: 'oidc', subjectId: acme.adminId });
  });

  describe('for an admin without a password for re-authentication', () => {
    const setup = (accessToken: string, reAuthToken?: string) =>
      app.as(accessToken, reAuthToken ? { 'x-reauth-token': reAuthToken } : {}).post('/api/v1/admin/mfa/setup');

    it('returns a re-authentication token on request, after the provider has authenticated them again', async () => {
      await configure();
      provider.signsIn({ email: acme.email });
      const { answer } = await signIn(provider, { reauthenticate: 'true' });
      const asked = provider.asked.at(-1)!;
      expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
      const { accessToken, reAuthToken } = answer.body;
      expect([answer.status, reAuthToken]).toEqual([200, expect.any(String)]);
      expect((await setup(accessToken)).status).toBe(403);
      expect((await setup(accessToken, reAuthToken)).status).toBe(200);
      // Only in the requesting session.
      const another = (await signIn()).answer.body;
      expect([another.reAuthToken, (await setup(another.accessToken, reAuthToken)).status]).toEqual([undefined, 403]);
    });

    it('returns it to the sign-in page too, with the code', async () => {
      await configure();
      provider.signsIn({ email: acme.email });
      const verifier = randomBytes(32).toString('base64url');
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const { answer } = await signIn(provider, { return_to: 'login', challenge, reauthenticate: 'true' });
      const code = new URL(answer.headers.get('location')!, 'https://castellan.example').searchParams.get('sso_code');
      const { accessToken, reAuthToken } = (await app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier }))
        .body;
      expect((await setup(accessToken, reAuthToken)).status).toBe(200);
    });
  });

  it('ends with its configuration, and does not return with it', async () => {
    const { id } = await configure();
    provider.signsIn({ email: acme.email });
    const works = async (accessToken: string) => (await app.as(accessToken).get('/api/v1/admin/me')).status;
    const change = async (over: object) => expect((await acme.admin.put(`${CONFIGS}/${id}`, over)).status).toBe(200);
    const { accessToken, refreshToken } = (await signIn()).answer.body;
    await change({ name: 'Another name' });
    expect(await works(accessToken)).toBe(200);
    const verifier = 'v'.repeat(43);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const { answer } = await signIn(provider, { return_to: 'login', challenge });
    const code = new URL(answer.headers.get('location')!, 'https://castellan.example').searchParams.get('sso_code');
    await change({ isEnabled: false });
    const { body } = await acme.admin.get('/api/v1/admin/me/sessions');
    expect([body.total, body.sessions.map(({ current }: { current: boolean }) => current)]).toEqual([1, [true]]);
    expect([
      await works(accessToken),
      (await app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier })).status,
    ]).toEqual([401, 401]);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken })).status).toBe(401);
    await change({ isEnabled: true });
    expect(await works(accessToken)).toBe(401);
    const again = (await signIn()).answer.body.accessToken;
    expect(await works(again)).toBe(200);
    expect((await acme.admin.delete(`${CONFIGS}/${id}`)).status).toBe(204);
    // Sessions from a password are not affected.
    expect([await works(again), await works(acme.token)]).toEqual([401, 200]);
  });

  it.each([
    ['during the request to the provider', 2, 401],
    ['after that', 3, 200],
  ])('is invalid if its configuration was disabled %s, even if it was enabled again', async (_when, look, status) => {
    const { id } = await configure();
    provider.signsIn({ email: acme.email });
    const change = async (isEnabled: boolean) =>
      expect((await acme.admin.put(`${CONFIGS}/${id}`, { isEnabled })).status).toBe(200);
    const { loader } = app.services;
    const load = loader.load.bind(loader);
    let looks = 0;
    // The tenant is read with its configuration before the browser leaves and before the request to the provider, and
    // then with its administrators.
    const spy = vi.spyOn(loader, 'load').mockImplementation(async (aggregate, stream) => {
      if (
        (aggregate as unknown) === tenant &&
        stream === tenantStream(acme.tenantId) &&
        looks >= 0 &&
        ++looks === look
      ) {
        looks = -1;
        await change(false);
      }
      return load(aggregate, stream);
    });
    const { answer } = await signIn();
    spy.mockRestore();
    const works = async () => (await app.as(String(answer.body.accessToken)).get('/api/v1/admin/me')).status;
    expect([looks, answer.status, await works()]).toEqual([-1, status, 401]);
    await change(true);
    expect(await works()).toBe(401);
  });

  it('sends PKCE, state and nonce, and only the configured parameters', async () => {
    await configure(provider, { scopes: 'openid email' });
    const { address, state, nonce, cookie } = await startsSignIn(app.anonymous, loginPath());
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: provider.clientId,
      redirect_uri: redirectUris[0],
      response_type: 'code',
      scope: 'openid email',
      state,
      nonce,
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(cookie).toMatch(/^__Host-castellan-sso-[0-9a-f]{16}=host\.[A-Za-z0-9_-]{43}$/);
    const set = (await app.anonymous.get(loginPath())).headers.getSetCookie()[0];
    expect(set).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/);
    const { rows } = await app.services.database.owner.query('select * from one_time_tokens where tenant_id = $1', [
      acme.tenantId,
    ]);
    for (const secret of [state, nonce, cookie.split('=')[1]!]) expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it.each([
    ['returns the e-mail from its userinfo endpoint', { quietIdToken: true }],
    ['takes the secret in the form', { authentication: 'client_secret_post' }],
    ['knows no secret', { authentication: 'none' }],
  ] as const satisfies readonly (readonly [string, Partial<OpenIdProviderOptions>])[])(
    'works with a provider that %s',
    async (_what, options) => {
      const other = await startOpenIdProvider({ redirectUris, ...options });
      await configure(
        other,
        'authentication' in options && options.authentication === 'none' ? { clientSecret: null } : {},
      );
      other.signsIn({ email: acme.email });
      expect((await signIn(other)).answer.status).toBe(200);
      other.signsIn({ email: acme.email, emailVerified: false });
      expect((await signIn(other)).answer.body).toEqual(
        expect.objectContaining({ error: 'single sign-on failed: email_not_verified' }),
      );
      await other.close();
    },
  );

  it('refuses unverified e-mails, unknown and suspended admins, and foreign domains; creates no account, and audits each', async () => {
    const { id } = await configure();
    const attempt = async (email: string, emailVerified = true) => {
      provider.signsIn({ email, emailVerified });
      const { answer } = await signIn();
      return [answer.status, answer.body];
    };
    const failed = (reason: string) => [401, expect.objectContaining({ error: `single sign-on failed: ${reason}` })];
    expect(await attempt(acme.email, false)).toEqual(failed('email_not_verified'));
    expect(await attempt('stranger@acme.example')).toEqual(failed('account_not_found'));
    expect(await attempt((await app.newTenant()).email)).toEqual(failed('account_not_found'));
    provider.signsIn(undefined);
    expect((await signIn()).answer.body).toEqual(
      expect.objectContaining({ error: 'single sign-on failed: idp_error' }),
    );
    await acme.admin.put(`${CONFIGS}/${id}`, { emailDomains: ['elsewhere.example'] });
    expect(await attempt(acme.email)).toEqual(failed('account_not_found'));
    expect((await refusals()).map(({ details: { reason, detail } }) => [reason, detail])).toEqual([
      ['account_not_found', 'foreign domain'],
      ['idp_error', 'access_denied'],
      ['account_not_found', null],
      ['account_not_found', null],
      ['email_not_verified', 'called unverified'],
    ]);
    expect((await acme.admin.get('/api/v1/admin/audit-log?action=admin_user.created')).body.total).toBe(1);
  });

  it('is bound to one browser, and valid once', async () => {
    await configure();
    provider.signsIn({ email: acme.email });
    const invalid = expect.objectContaining({ error: 'single sign-on failed: invalid_state' });
    const first = await startsSignIn(app.anonymous, loginPath());
    const back = await provider.visit(first.address.href);
    const other = await startsSignIn(app.anonymous, loginPath());
    // Another browser: without a cookie, with that of another sign-in, with the right name and another secret.
    expect((await returnsFromProvider(app.anonymous, CALLBACK, back.searchParams, '')).body).toEqual(invalid);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, back.searchParams, first.cookie)).body).toEqual(invalid);
    const second = await startsSignIn(app.anonymous, loginPath());
    const injected = `${second.cookie.split('=')[0]}=${other.cookie.split('=')[1]}`;
    expect(
      (
        await returnsFromProvider(
          app.anonymous,
          CALLBACK,
          (await provider.visit(second.address.href)).searchParams,
          injected,
        )
      ).body,
    ).toEqual(invalid);
    // A sibling host can set a cookie for the whole domain, but none with the prefix: the attacker's own secret under
    // the bare name.
    const tossed = await startsSignIn(app.anonymous, loginPath());
    const bare = tossed.cookie.replace('__Host-', '');
    expect(
      (
        await returnsFromProvider(
          app.anonymous,
          CALLBACK,
          (await provider.visit(tossed.address.href)).searchParams,
          bare,
        )
      ).body,
    ).toEqual(invalid);
    const { answer, back: used, cookie } = await signIn();
    expect(answer.status).toBe(200);
    expect(cookiesOf(answer)).toMatch(/^__Host-castellan-sso-[0-9a-f]{16}=; /);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, used.searchParams, cookie)).body).toEqual(invalid);
    expect((await refusals()).map(({ details }) => details.detail)).toEqual([
      'unknown or used',
      'another browser',
      'another browser',
      'unknown or used',
      'another browser',
    ]);
  });

  it('expires after ten minutes', async () => {
    await configure();
    provider.signsIn({ email: acme.email });
    const { address, cookie } = await startsSignIn(app.anonymous, loginPath());
    const back = await provider.visit(address.href);
    const { rows } = await app.services.database.owner.query<{ left: number }>(
      `with open as (select digest, extract(epoch from expires_at - now())::float8 as left from one_time_tokens where tenant_id = $1 and purpose = 'sso-state')
       update one_time_tokens t set expires_at = now() from open where t.digest = open.digest returning open.left`,
      [acme.tenantId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.left).toBeGreaterThan(9 * 60);
    expect(rows[0]!.left).toBeLessThanOrEqual(10 * 60);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, back.searchParams, cookie)).body).toMatchObject({
      error: 'single sign-on failed: invalid_state',
    });
  });

  it('admits one of two hundred concurrent callbacks', async () => {
    await configure();
    provider.signsIn({ email: acme.email });
    const { address, cookie } = await startsSignIn(app.anonymous, loginPath());
    const back = await provider.visit(address.href);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => returnsFromProvider(app.anonymous, CALLBACK, back.searchParams, cookie)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(199);
  });

  it('is invalid if another provider has replaced its own meanwhile', async () => {
    const { id } = await configure();
    provider.signsIn({ email: acme.email });
    const { address, cookie } = await startsSignIn(app.anonymous, loginPath());
    const back = await provider.visit(address.href);
    await acme.admin.put(`${CONFIGS}/${id}`, { isEnabled: false });
    await configure(provider, { isEnabled: true });
    expect((await returnsFromProvider(app.anonymous, CALLBACK, back.searchParams, cookie)).body).toMatchObject({
      error: 'single sign-on failed: sso_not_configured',
    });
  });

  it('returns to the sign-in page with a code for the tab that started it', async () => {
    await configure();
    provider.signsIn({ email: acme.email });
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const { answer } = await signIn(provider, { return_to: 'login', challenge });
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location')!, 'http://here');
    expect([answer.headers.get('location')!.startsWith('/login?'), [...location.searchParams.keys()]]).toEqual([
      true,
      ['tenant_id', 'sso_code'],
    ]);
    const exchanged = await app.anonymous.post('/api/v1/auth/sso/exchange', {
      code: location.searchParams.get('sso_code'),
      verifier,
    });
    expect([exchanged.status, exchanged.body.user.id]).toEqual([200, acme.adminId]);

    provider.signsIn({ email: 'stranger@acme.example' });
    const refused = await signIn(provider, { return_to: 'login', challenge });
    expect(refused.answer.headers.get('location')).toBe(
      `/login?tenant_id=${acme.tenantId}&sso_error=account_not_found`,
    );
    const again = await returnsFromProvider(app.anonymous, CALLBACK, refused.back.searchParams, refused.cookie);
    expect(again.headers.get('location')).toBe(`/login?tenant_id=${acme.tenantId}&sso_error=invalid_state`);
  });

  it.each(['https://evil.example', '//evil.example', '/login', 'login/../..', 'javascript:alert(1)'])(
    'returns to its own sign-in page only, not to %s',
    async (target) => {
      await configure();
      const { status, headers } = await app.anonymous.get(loginPath({ return_to: target }));
      expect([status, headers.get('location')]).toEqual([400, null]);
    },
  );
});

describe('the public information about single sign-on', () => {
  const status = async (query = `?tenant_id=${acme.tenantId}`, headers = {}) =>
    (await app.anonymous.get(`/api/v1/auth/sso/status${query}`, { headers })).body;

  it('lists the protocols of a tenant, and reveals nothing about an unknown tenant', async () => {
    const none = { configured: false, oidc: false, saml: false, loginUrl: null, oidcName: null, samlName: null };
    expect(await status()).toEqual(none);
    const { id } = await configure();
    expect(await status()).toEqual({
      ...none,
      configured: true,
      oidc: true,
      loginUrl: LOGIN,
      oidcName: '127.0.0.1',
    });
    expect(await status('', { 'x-tenant-id': acme.tenantId })).toMatchObject({ configured: true });
    await acme.admin.put(`${CONFIGS}/${id}`, { isEnabled: false });
    expect(await status()).toEqual(none);
    expect(await status('?tenant_id=0198a000-0000-7000-8000-000000000000')).toEqual(none);
    expect((await app.anonymous.get('/api/v1/auth/sso/status')).status).toBe(400);
    expect((await app.anonymous.get('/api/v1/auth/sso/status?tenant_id=acme')).status).toBe(400);
  });

  it('is "not found" without a configuration, with the reason on the sign-in page', async () => {
    expect((await app.anonymous.get(loginPath())).status).toBe(404);
    const challenge = 'c'.repeat(43);
    const { headers } = await app.anonymous.get(loginPath({ return_to: 'login', challenge }));
    expect(headers.get('location')).toBe(`/login?tenant_id=${acme.tenantId}&sso_error=sso_not_configured`);
    expect(await refusals()).toEqual([]);
  });
});

describe('logging out of single sign-on', () => {
  it("ends the session, and returns the provider's logout address", async () => {
    await configure();
    provider.signsIn({ email: acme.email });
    const { answer } = await signIn();
    const { accessToken, refreshToken } = answer.body;
    expect(
      (await app.as(accessToken, { 'x-tenant-id': '0198a000-0000-7000-8000-000000000000' }).post(LOGOUT)).status,
    ).toBe(401);
    const [kept] = answer.headers.getSetCookie().filter((set) => set.includes('logout-hint'));
    expect(kept).toMatch(
      /^__Secure-castellan-logout-hint=\S+; Path=\/api\/v1\/auth\/sso\/logout; HttpOnly; SameSite=Strict; Secure$/,
    );
    const { status, body } = await app
      .as(accessToken)
      .post(LOGOUT, undefined, { headers: { cookie: kept!.split(';')[0]! } });
    expect([status, body.success]).toEqual([200, true]);
    const logout = new URL(body.logoutUrl as string);
    expect([logout.origin + logout.pathname, Object.fromEntries(logout.searchParams)]).toEqual([
      `${provider.issuer}/session/end`,
      {
        client_id: provider.clientId,
        post_logout_redirect_uri: 'https://castellan.example/login',
        state: acme.tenantId,
        id_token_hint: kept!.split(';')[0]!.split('=')[1],
      },
    ]);
    expect((await app.as(accessToken).get('/api/v1/admin/me')).status).toBe(401);
    expect((await app.as(accessToken).post(LOGOUT)).status).toBe(401);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken })).status).toBe(401);
    await app.settled();
    const log = await acme.admin.get('/api/v1/admin/audit-log?action=session.ended');
    expect(log.body.auditLogs[0].details.reason).toBe('sso_logout');
  });

  it('names the person of the session to the provider, and nobody who signed in in the same browser since', async () => {
    await configure();
    const { client } = await app.adminWithRole(acme, 'viewer');
    const { email: other } = (await client.get('/api/v1/admin/me')).body;
    const hintIn = ({ headers }: TestResponse) =>
      headers
        .getSetCookie()
        .find((set) => set.includes('logout-hint'))!
        .split(';')[0]!;
    const signedIn = async (email: string) => {
      provider.signsIn({ email });
      const { answer } = await signIn();
      return { session: app.as(answer.body.accessToken), kept: hintIn(answer) };
    };
    const signsOut = async ({ session }: Awaited<ReturnType<typeof signedIn>>, cookie: string) => {
      const { body, headers } = await session.post(LOGOUT, undefined, { headers: { cookie } });
      return [new URL(body.logoutUrl as string).searchParams.get('id_token_hint'), headers.getSetCookie().length];
    };
    const ann = await signedIn(acme.email);
    const bob = await signedIn(other);
    // A person without an account here leaves no token behind.
    provider.signsIn({ email: 'nobody@elsewhere.example' });
    const refused = (await signIn()).answer;
    expect([refused.status, refused.headers.getSetCookie().join()]).toEqual([401, expect.not.stringContaining('hint')]);
    // The cookie is Bob's now, and stays for him.
    expect(await signsOut(ann, bob.kept)).toEqual([null, 0]);
    expect(await signsOut(bob, bob.kept)).toEqual([bob.kept.split('=')[1], 1]);
  });

  it('returns no address for a password session or a deleted provider, and ends the session all the same', async () => {
    const { client } = await app.adminWithRole(acme, 'viewer');
    expect((await client.post(LOGOUT)).body).toEqual({ success: true, logoutUrl: null });
    expect((await client.get('/api/v1/admin/me')).status).toBe(401);
    const passing = await startOpenIdProvider({ redirectUris });
    await configure(passing);
    passing.signsIn({ email: acme.email });
    const { accessToken } = (await signIn(passing)).answer.body;
    await passing.close();
    expect((await app.as(accessToken).post(LOGOUT)).body).toEqual({ success: true, logoutUrl: null });
    expect((await app.as(accessToken).get('/api/v1/admin/me')).status).toBe(401);
    expect((await app.anonymous.post(LOGOUT)).status).toBe(401);
  });
});
