import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { organization, organizationStream } from '../../../../src/contexts/organizations/domain/organization.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { vouchForDomain } from '../../../../src/app/cli/organization-commands.ts';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import { startOpenIdProvider, type TestOpenIdProvider } from '../../../dsl/openid-provider.ts';
import { newOrganization, type TestOrganization } from '../../../dsl/organization.ts';
import { cookiesOf, startsSignIn, returnsFromProvider } from '../../../dsl/sso-browser.ts';

const BASE = '/api/v1/org/auth/sso';
const CALLBACK = `${BASE}/callback`;
const CONFIGS = '/api/v1/org/sso-configs';
const HOME = 'https://castellan.example';

let app: TestApp;
let provider: TestOpenIdProvider;
let north: TestOrganization;
beforeAll(async () => {
  app = await startApp({ devMode: true });
  provider = await startOpenIdProvider({ redirectUris: [HOME + CALLBACK] });
});
beforeEach(async () => {
  north = await newOrganization(app, undefined, HOME);
});
afterAll(async () => {
  await provider?.close();
  await app?.close();
});

const configure = async (over: object = {}, org = north): Promise<{ id: string }> => {
  const { issuer: issuerUrl, clientId, clientSecret } = provider;
  const answer = await org.write('POST', CONFIGS, { issuerUrl, clientId, clientSecret, ...over });
  expect(answer.status).toBe(201);
  return answer.body;
};
const loginPath = (over: Record<string, string> = {}) =>
  `${BASE}/login?${new URLSearchParams({ slug: north.slug, ...over }).toString()}`;
/** A round trip through the provider: the callback's response, and the cookies of the browser afterwards. */
const cameBack = async (over: Record<string, string> = {}) => {
  const { address, cookie } = await startsSignIn(app.anonymous, loginPath(over));
  const answer = await returnsFromProvider(
    app.anonymous,
    CALLBACK,
    (await provider.visit(address.href)).searchParams,
    cookie,
  );
  const location = answer.headers.get('location')!;
  const code = new URL(location, HOME).searchParams.get('org_sso_code') ?? '';
  return { location, code, cookie: cookiesOf(answer), answer };
};
const exchange = (body: object, cookie = '') =>
  app.anonymous.post(`${BASE}/exchange`, body, { headers: cookie ? { cookie } : {} });
const suspend = async () => {
  const state = await app.services.loader.load(organization, organizationStream(north.organizationId));
  const [adminId] = state.admins.keys();
  const command = defineCommand({
    name: 'SuspendOrgAdminForTest',
    aggregate: organization,
    stream: () => organizationStream(north.organizationId),
    decide: () => accept([{ type: 'OrgAdminSuspended' as const, data: { adminId: adminId! } }]),
  });
  orThrow(
    await app.services.executor.execute(command, undefined, { tenantId: north.organizationId, actor: system('test') }),
  );
};
/** From the store: no endpoint shows this part of the audit log to an organization. */
const refusals = async () => {
  const { rows } = await app.services.database.owner.query<{ data: { reason: string; detail: string | null } }>(
    `select data from events where tenant_id = $1 and type = 'SsoSignInRefused' order by position`,
    [north.organizationId],
  );
  return rows.map(({ data: { reason, detail } }) => [reason, detail]);
};
const INVALID = [401, expect.objectContaining({ error: 'invalid or expired code' })];

describe('the single sign-on of an organization', () => {
  it('returns the browser with a code, which is exchanged for tokens that no URL ever contained', async () => {
    await configure();
    provider.signsIn({ email: north.email.toUpperCase() });
    const { location, code, cookie, answer } = await cameBack();
    expect([answer.status, location, answer.text]).toEqual([302, `/login?org_sso_code=${code}`, '']);
    const { status, body } = await exchange({ code }, cookie);
    expect([status, body]).toEqual([
      200,
      {
        accessToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: expect.any(String),
        user: {
          id: expect.any(String),
          email: north.email,
          displayName: north.email.split('@')[0],
          role: 'org_owner',
          organizationId: north.organizationId,
        },
      },
    ]);
    expect((await app.as(body.accessToken).get(CONFIGS)).status).toBe(200);
    expect((await app.as(body.accessToken).get('/api/v1/admin/me')).status).toBe(401);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: body.refreshToken })).status).toBe(200);
    const { rows } = await app.services.database.owner.query<{ data: { method: string } }>(
      `select data from events where tenant_id = $1 and type = 'SessionStarted' order by position desc limit 1`,
      [north.organizationId],
    );
    expect(rows[0]!.data.method).toBe('org_sso');
  });

  describe('for an admin without a password for re-authentication', () => {
    const write = (accessToken: string, reAuthToken?: string) =>
      app
        .as(accessToken, reAuthToken ? { 'x-reauth-token': reAuthToken } : {})
        .put(`${CONFIGS}/require`, { requireSso: true });

    it('issues a token for one write on request, after the provider has authenticated them again', async () => {
      await configure();
      provider.signsIn({ email: north.email });
      const proving = await cameBack({ reauthenticate: 'true' });
      const asked = provider.asked.at(-1)!;
      expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
      const { status, body } = await exchange({ code: proving.code }, proving.cookie);
      expect([status, body.reAuthToken]).toEqual([200, expect.any(String)]);
      expect((await write(body.accessToken)).status).toBe(403);
      expect((await write(body.accessToken, body.reAuthToken)).status).toBe(200);
      expect((await write(body.accessToken, body.reAuthToken)).status).toBe(403);
    });

    it('issues it only in the requesting session, and only on request', async () => {
      await configure();
      provider.signsIn({ email: north.email });
      const verifier = randomBytes(32).toString('base64url');
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const proved = (await exchange({ code: (await cameBack({ challenge, reauthenticate: 'true' })).code, verifier }))
        .body;
      const plain = await cameBack();
      const other = (await exchange({ code: plain.code }, plain.cookie)).body;
      expect(other.reAuthToken).toBeUndefined();
      expect((await write(other.accessToken, proved.reAuthToken)).body).toMatchObject({
        error: 're-authentication required',
      });
      expect((await app.anonymous.get(loginPath({ reauthenticate: 'yes' }))).status).toBe(400);
    });
  });

  it('binds the code to the browser by its cookie, or by the verifier of the page that started it', async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const other = await cameBack();
    const plain = await cameBack();
    expect(plain.answer.headers.getSetCookie()[1]).toMatch(
      /^__Host-castellan-sso-[0-9a-f]{16}=host\.[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=60; Secure$/,
    );
    for (const cookie of ['', other.cookie]) {
      const { code } = await cameBack();
      const { status, body } = await exchange({ code }, cookie);
      expect([status, body]).toEqual(INVALID);
    }
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    expect((await exchange({ code: (await cameBack({ challenge })).code, verifier })).status).toBe(200);
    expect((await exchange({ code: (await cameBack({ challenge })).code, verifier: 'v'.repeat(43) })).status).toBe(401);
    // Without a challenge no verifier matches.
    expect((await exchange({ code: (await cameBack()).code, verifier: '' })).status).toBe(401);
    // A code that another browser presented is invalid in its own, too.
    const stolen = await cameBack();
    expect((await exchange({ code: stolen.code })).status).toBe(401);
    expect((await exchange({ code: stolen.code }, stolen.cookie)).status).toBe(401);
  });

  it("does not accept the cookie in place of a page's verifier: a browser that followed a link has the cookie as well", async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const challenge = createHash('sha256').update('a verifier that a stranger made').digest('base64url');
    for (const verifier of [undefined, '', 'v'.repeat(43)]) {
      const { code, cookie } = await cameBack({ challenge });
      const { status, body } = await exchange({ code, verifier }, cookie);
      expect([status, body]).toEqual(INVALID);
    }
  });

  it('accepts no cookie from a page that started another sign-in: it has a verifier, and the code has none', async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const { code, cookie } = await cameBack();
    const { status, body } = await exchange({ code, verifier: 'v'.repeat(43) }, cookie);
    expect([status, body]).toEqual(INVALID);
  });

  it('ends with its configuration: codes, sessions and refreshes, which do not return with it', async () => {
    const { id } = await configure();
    provider.signsIn({ email: north.email });
    const signIn = async () => {
      const { code, cookie } = await cameBack();
      return (await exchange({ code }, cookie)).body as { accessToken: string; refreshToken: string };
    };
    const works = async ({ accessToken }: { accessToken: string }) => (await app.as(accessToken).get(CONFIGS)).status;
    const change = async (over: object) =>
      expect((await north.write('PUT', `${CONFIGS}/${id}`, over)).status).toBe(200);

    const first = await signIn();
    await change({ name: 'Another name' });
    expect(await works(first)).toBe(200);
    const under = await cameBack();
    await change({ isEnabled: false });
    expect([await works(first), (await exchange({ code: under.code }, under.cookie)).status]).toEqual([401, 401]);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: first.refreshToken })).status).toBe(401);
    await change({ isEnabled: true });
    expect(await works(first)).toBe(401);

    const second = await signIn();
    await change({ issuerUrl: 'https://other.example', clientSecret: provider.clientSecret });
    expect(await works(second)).toBe(401);
    await change({ issuerUrl: provider.issuer, clientSecret: provider.clientSecret });
    const third = await signIn();
    expect([await works(third), await works(second)]).toEqual([200, 401]);
    expect((await north.write('DELETE', `${CONFIGS}/${id}`)).status).toBe(204);
    expect([await works(third), (await north.owner.get(CONFIGS)).status]).toEqual([401, 200]);
  });

  it('exchanges a code once for two hundred concurrent uses', async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const { code, cookie } = await cameBack();
    const answers = await Promise.all(Array.from({ length: 200 }, () => exchange({ code }, cookie)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(
      answers.filter(({ status, body }) => status === 401 && body.error === 'invalid or expired code'),
    ).toHaveLength(199);
  });

  it('exchanges no code that is older than a minute, forged, or of an admin who was suspended meanwhile', async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const late = await cameBack();
    const { rows } = await app.services.database.owner.query<{ seconds: string }>(
      `update one_time_tokens set expires_at = now() where tenant_id = $1 and purpose = 'org-handoff' returning extract(epoch from expires_at - now()) as seconds`,
      [north.organizationId],
    );
    expect(rows).toHaveLength(1);
    expect((await exchange({ code: late.code }, late.cookie)).status).toBe(401);
    for (const code of ['nonsense', `${late.code}x`, '\u00e9'])
      expect((await exchange({ code }, late.cookie)).status).toBe(401);
    expect((await exchange({}, late.cookie)).status).toBe(400);
    const suspended = await cameBack();
    await suspend();
    expect((await exchange({ code: suspended.code }, suspended.cookie)).status).toBe(401);
  });

  it('stores a code for sixty seconds, as a digest', async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const { code } = await cameBack();
    const { rows } = await app.services.database.owner.query<{ left: number }>(
      `select extract(epoch from expires_at - now())::float8 as left, t.* from one_time_tokens t where tenant_id = $1 and purpose = 'org-handoff'`,
      [north.organizationId],
    );
    expect(rows[0]!.left).toBeGreaterThan(50);
    expect(rows[0]!.left).toBeLessThanOrEqual(60);
    expect(JSON.stringify(rows)).not.toContain(code.split('.')[1]);
  });

  it('shows the reason of a refusal on the sign-in page, and starts no session and creates no account', async () => {
    const { id } = await configure();
    const reason = async (email: string | undefined, emailVerified = true) => {
      provider.signsIn(email === undefined ? undefined : { email, emailVerified });
      const { location, answer } = await cameBack();
      expect(answer.status).toBe(302);
      return /^\/login\?org_sso_error=(\w+)(?:&sso_hint=denied)?$/.exec(location)?.[1];
    };
    const south = await newOrganization(app, undefined, HOME);
    expect(await reason(north.email, false)).toBe('email_not_verified');
    expect(await reason(`nobody-${randomUUID()}@mssp.example`)).toBe('account_not_found');
    expect(await reason(south.email)).toBe('account_not_found');
    expect(await reason(undefined)).toBe('idp_error');
    await north.write('PUT', `${CONFIGS}/${id}`, { emailDomains: ['elsewhere.example'] });
    expect(await reason(north.email)).toBe('account_not_found');
    await north.write('PUT', `${CONFIGS}/${id}`, { emailDomains: [] });
    await suspend();
    expect(await reason(north.email)).toBe('account_disabled');
    expect(await refusals()).toEqual([
      ['email_not_verified', 'called unverified'],
      ['account_not_found', null],
      ['account_not_found', null],
      ['idp_error', 'access_denied'],
      ['account_not_found', 'foreign domain'],
      ['account_disabled', null],
    ]);
    const { admins } = await app.services.loader.load(organization, organizationStream(north.organizationId));
    expect(admins.size).toBe(1);
  });

  it('accepts a state once, unaltered, from the browser that received it', async () => {
    await configure();
    provider.signsIn({ email: north.email });
    const invalid = '/login?org_sso_error=invalid_state';
    const { address, cookie, state } = await startsSignIn(app.anonymous, loginPath());
    const back = (await provider.visit(address.href)).searchParams;
    const altered = new URLSearchParams(back);
    altered.set('state', `${state.slice(0, -3)}AAA`);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, altered, cookie)).headers.get('location')).toBe(invalid);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, back, cookie)).headers.get('location')).toMatch(
      /org_sso_code=/,
    );
    expect((await returnsFromProvider(app.anonymous, CALLBACK, back, cookie)).headers.get('location')).toBe(invalid);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, {}, '')).headers.get('location')).toBe(invalid);
    const other = await startsSignIn(app.anonymous, loginPath());
    expect(
      (
        await returnsFromProvider(app.anonymous, CALLBACK, (await provider.visit(other.address.href)).searchParams, '')
      ).headers.get('location'),
    ).toBe(invalid);
    expect((await refusals()).map(([reason]) => reason)).toEqual(['invalid_state', 'invalid_state', 'invalid_state']);
  });

  it('admits no admin of one organization to another through a provider that both use', async () => {
    const south = await newOrganization(app, undefined, HOME);
    await configure();
    await configure({}, south);
    provider.signsIn({ email: south.email });
    expect((await cameBack()).location).toBe('/login?org_sso_error=account_not_found');
  });

  it('remains available while it is required, and its tokens work as before', async () => {
    await configure();
    await north.write('PUT', `${CONFIGS}/require`, { requireSso: true });
    expect(
      (await app.anonymous.post('/api/v1/org/auth/login', { email: north.email, password: north.password })).body,
    ).toEqual(expect.objectContaining({ error: 'sso required' }));
    expect((await north.owner.get(CONFIGS)).body.requireSso).toBe(true);
    provider.signsIn({ email: north.email });
    const { code, cookie } = await cameBack();
    expect((await exchange({ code }, cookie)).status).toBe(200);
  });
});

describe("discovery of an organization's single sign-on", () => {
  const discover = async (email: string) => (await app.anonymous.post(`${BASE}/discover`, { email })).body;
  const loginUrl = () => `${HOME}${BASE}/login?slug=${north.slug}`;
  const none = { ssoAvailable: false, loginUrl: null };

  it('finds it by account if the organization names no domains', async () => {
    const { id } = await configure();
    expect(await discover(north.email.toUpperCase())).toEqual({ ssoAvailable: true, loginUrl: loginUrl() });
    expect(await discover(`nobody-${randomUUID()}@mssp.example`)).toEqual(none);
    await north.write('PUT', `${CONFIGS}/${id}`, { isEnabled: false });
    expect(await discover(north.email)).toEqual(none);
  });

  it('finds it by verified domain only if there is one, so that accounts are not disclosed', async () => {
    const domain = `${randomUUID()}.example`;
    await configure({ emailDomains: [domain] });
    await vouchForDomain(app.services, { slug: north.slug, domain });
    await app.settled();
    for (const name of ['ann', 'nobody', 'OWNER'])
      expect(await discover(`${name}@${domain.toUpperCase()}`)).toEqual({ ssoAvailable: true, loginUrl: loginUrl() });
    expect(await discover(north.email)).toEqual(none);
    expect(await discover(`ann@sub.${domain}`)).toEqual(none);
  });

  it.each(['ann', '', 7, null, `${'a'.repeat(300)}@x.example`, 'a@b@c'])(
    'rejects %j, which is no e-mail',
    async (email) => {
      expect((await app.anonymous.post(`${BASE}/discover`, { email })).status).toBe(400);
    },
  );

  it('finds it by slug, and by host if the host belongs to the organization', async () => {
    const host = `${randomUUID()}.example:8443`;
    const own = await newOrganization(app, undefined, `https://${host}`);
    const status = async (query: string) => (await app.anonymous.get(`${BASE}/status?${query}`)).body;
    expect(await status(`host=${host}`)).toEqual(none);
    await configure({}, own);
    const found = { ssoAvailable: true, loginUrl: `https://${host}${BASE}/login?slug=${own.slug}` };
    expect(await status(`host=${host.toUpperCase()}`)).toEqual(found);
    expect(await status(`slug=${own.slug}`)).toEqual(found);
    expect(await status('slug=no-such-organization')).toEqual(none);
    const twin = await newOrganization(app, undefined, `https://${host}`);
    await configure({}, twin);
    expect(await status(`host=${host}`)).toEqual(none);
    expect(await status(`slug=${twin.slug}`)).toMatchObject({ ssoAvailable: true });
    expect((await app.anonymous.get(`${BASE}/status`)).status).toBe(400);
  });

  it('finds nothing for an organization that does not exist or has none', async () => {
    const lost = '/login?org_sso_error=sso_not_configured';
    for (const slug of [north.slug, 'no-such-organization', 'https://evil.example']) {
      const { status, headers } = await app.anonymous.get(`${BASE}/login?${new URLSearchParams({ slug }).toString()}`);
      expect([status, headers.get('location')]).toEqual([302, lost]);
    }
    expect((await app.anonymous.get(`${BASE}/login`)).status).toBe(400);
    expect((await app.anonymous.get(`${BASE}/login?slug=${north.slug}&challenge=short`)).status).toBe(400);
  });
});
