import { createHash, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSsoConfig } from '../../../commands/sso/create-sso-config.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { guardedFetch, type GuardedFetch } from '../../../src/platform/outbound/guarded-fetch.ts';
import { openIdProvider } from '../../../src/contexts/sso/openid-client-provider.ts';
import { DEFAULT_ISSUER_TRUST } from '../../../src/contexts/sso/domain/fields.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import {
  startHostileOpenIdProvider,
  type HostileOpenIdProvider,
  type Misbehaviour,
} from '../../dsl/hostile-openid-provider.ts';
import { startOpenIdProvider, type TestOpenIdProvider } from '../../dsl/openid-provider.ts';
import { newOrganization } from '../../dsl/organization.ts';
import { startsSignIn, returnsFromProvider } from '../../dsl/sso-browser.ts';

const CALLBACK = '/api/v1/auth/sso/callback';
const CONFIGS = '/api/v1/admin/sso-configs';

/** Runs the command without the check of the address: names may lead elsewhere after they were saved. */
async function storeUnchecked({ services }: TestApp, { tenantId }: TestTenant, issuerUrl: string): Promise<void> {
  const { prepare: _checked, ...unchecked } = createSsoConfig;
  const config = {
    protocol: 'oidc' as const,
    configId: randomUUID(),
    name: 'Hidden',
    emailDomains: [],
    issuerUrl,
    clientId: 'c',
    scopes: 'openid',
    ...DEFAULT_ISSUER_TRUST,
  };
  const command = { ...unchecked, prepare: async () => ({ secretRef: null }) };
  orThrow(await services.executor.execute(command, { config, secret: null }, { tenantId, actor: system('test') }));
}

let app: TestApp;
let acme: TestTenant;
beforeAll(async () => {
  app = await startApp({ devMode: true });
  acme = await app.newTenant();
});
afterAll(() => app?.close());

const configure = async (tenant: TestTenant, issuerUrl: string, over: object = {}): Promise<{ id: string }> => {
  const answer = await tenant.admin.post(CONFIGS, { issuerUrl, clientId: 'castellan', clientSecret: 'hush', ...over });
  expect(answer.status).toBe(201);
  return answer.body;
};
const loginPath = (tenant: TestTenant) => `/api/v1/auth/sso/login?tenant_id=${tenant.tenantId}`;
const lastRefusal = async (tenant: TestTenant = acme) => {
  await app.settled();
  const { auditLogs, total } = (await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body;
  return {
    total: total as number,
    ...(auditLogs[0]?.details as { reason: string; detail: string | null; configId: string | null }),
  };
};

describe('a provider with false claims', () => {
  let hostile: HostileOpenIdProvider;
  let configId: string;
  let nonce = '';
  beforeAll(async () => {
    hostile = await startHostileOpenIdProvider('castellan', () => nonce);
    configId = (await configure(acme, hostile.issuer)).id;
  });
  beforeEach(() => hostile.behave({}));
  afterAll(() => hostile?.close());

  const attempt = async (wrong: Misbehaviour, query: Record<string, string> = {}, path = loginPath(acme)) => {
    hostile.behave({ ...wrong, claims: { email: acme.email, ...wrong.claims } });
    const { state, nonce: asked, cookie, address } = await startsSignIn(app.anonymous, path);
    nonce = asked;
    return {
      address,
      answer: await returnsFromProvider(app.anonymous, CALLBACK, { code: 'a-code', state, ...query }, cookie),
    };
  };

  const ago = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

  it('is accepted without false claims, and receives the verifier of its request', async () => {
    const { answer, address } = await attempt({});
    expect([answer.status, answer.body.user?.id]).toEqual([200, acme.adminId]);
    const redeemed = hostile.redeemed.at(-1)!;
    expect(redeemed.get('redirect_uri')).toBe(address.searchParams.get('redirect_uri'));
    expect(createHash('sha256').update(redeemed.get('code_verifier')!).digest('base64url')).toBe(
      address.searchParams.get('code_challenge'),
    );
  });

  it('is accepted from an issuer whose clock is a little behind, or up to three minutes ahead', async () => {
    expect((await attempt({ claims: { exp: ago(30) } })).answer.status).toBe(200);
    expect((await attempt({ claims: { nbf: ago(-150), iat: ago(-150) } })).answer.status).toBe(200);
  });

  it('must state that it has just authenticated the person, if that was requested', async () => {
    const anew = `${loginPath(acme)}&reauthenticate=true`;
    for (const auth_time of [undefined, ago(500), 'now']) {
      const { answer } = await attempt({ claims: { auth_time } }, {}, anew);
      expect([auth_time, answer.status, answer.body.error]).toEqual([
        auth_time,
        401,
        'single sign-on failed: invalid_assertion',
      ]);
    }
    const { answer } = await attempt({ claims: { auth_time: ago(5) } }, {}, anew);
    expect([answer.status, answer.body.reAuthToken]).toEqual([200, expect.any(String)]);
    // Without a request the claim has no effect.
    expect((await attempt({ claims: { auth_time: ago(5) } })).answer.body.reAuthToken).toBeUndefined();
  });

  it('lengthens no proof by a clock that is ahead: the token itself says how long ago it was', async () => {
    const anew = `${loginPath(acme)}&reauthenticate=true`;
    const proof = async (ahead: number, age: number) =>
      (await attempt({ claims: { iat: ago(-ahead), exp: ago(-ahead - 60), auth_time: ago(age - ahead) } }, {}, anew))
        .answer;
    for (const [ahead, age] of [
      [170, 469],
      [120, 310],
      [1, 301],
    ] as const) {
      const { status, body } = await proof(ahead, age);
      expect([ahead, status, body.error]).toEqual([ahead, 401, 'single sign-on failed: invalid_assertion']);
      expect((await lastRefusal()).detail).toBe('auth_time');
    }
    for (const age of [0, 290]) expect((await proof(120, age)).body.reAuthToken).toEqual(expect.any(String));
  });

  const signedWith: Record<string, Misbehaviour> = {
    'alg none': { signature: 'none' },
    'alg none, announced as supported': {
      signature: 'none',
      discovery: { id_token_signing_alg_values_supported: ['none', 'RS256'] },
    },
    'an HMAC with the public key': { signature: 'hmac' },
    'an HMAC with the public key, announced as supported': {
      signature: 'hmac',
      discovery: { id_token_signing_alg_values_supported: ['HS256'] },
    },
    'a key of somebody else': { signature: 'stranger' },
    'a key of somebody else, called by another name': { signature: 'stranger', header: { kid: 'k2' } },
    'a broken signature': { signature: 'broken' },
    'a critical extension that nobody knows': { header: { crit: ['b64'], b64: false } },
  };
  const claiming: Record<string, Misbehaviour> = {
    'another nonce': { claims: { nonce: 'n'.repeat(43) } },
    'no nonce': { claims: { nonce: undefined } },
    'another issuer': { claims: { iss: 'https://accounts.other.example' } },
    'another audience': { claims: { aud: 'somebody-else' } },
    'several audiences without saying for whom': { claims: { aud: ['castellan', 'somebody-else'] } },
    'the authorized party of another client, for one audience': { claims: { azp: 'somebody-else' } },
    'an empty subject': { claims: { sub: '' } },
    'another authorized party': { claims: { aud: ['castellan', 'somebody-else'], azp: 'somebody-else' } },
    'a time that is over': { claims: { exp: ago(120), iat: ago(600) } },
    'a time that has not begun': { claims: { nbf: ago(-240) } },
    'no end': { claims: { exp: undefined } },
    'no subject': { claims: { sub: undefined } },
    'no id token at all': { withoutIdToken: true },
  };
  it.each(Object.entries({ ...signedWith, ...claiming }))(
    'is rejected with %s, which is audited',
    async (_what, wrong) => {
      const before = (await lastRefusal()).total;
      const { answer } = await attempt(wrong);
      expect([answer.status, answer.body]).toEqual([
        401,
        expect.objectContaining({ error: 'single sign-on failed: invalid_assertion' }),
      ]);
      expect(await lastRefusal()).toMatchObject({ total: before + 1, reason: 'invalid_assertion', configId });
    },
  );

  it.each([
    ['says that it is not verified', { email_verified: false }],
    ['does not say', { email_verified: undefined }],
    ['says so in a word that nobody knows', { email_verified: 'yes' }],
    ['names none', { email: undefined }],
    ['names an invalid one', { email: 'ann' }],
    ['names several', { email: ['ann@acme.example', 'owner@acme.example'] }],
  ])('does not confirm an e-mail if it %s', async (_what, claims) => {
    expect((await attempt({ claims })).answer.body).toEqual(
      expect.objectContaining({ error: 'single sign-on failed: email_not_verified' }),
    );
    expect((await lastRefusal()).reason).toBe('email_not_verified');
  });

  it.each<[string, Misbehaviour, string]>([
    ['refuses the code', { token: { status: 400, body: '{"error":"invalid_grant"}' } }, 'invalid_grant'],
    [
      'refuses the client, with a reason made for a log',
      { token: { status: 401, body: '{"error":"<script>alert(1)</script>\\nforged entry"}' } },
      'unreadable error',
    ],
    ['is broken', { token: { status: 500, body: 'oops' } }, 'unreachable'],
    [
      'challenges the client for its secret',
      { token: { status: 401, body: '{"error":"invalid_client"}', challenge: 'Basic realm="idp"' } },
      'invalid_client',
    ],
    ['responds with a page', { token: { status: 200, body: '<html>' } }, 'unexpected response'],
  ])('that %s gives no session', async (_what, wrong, detail) => {
    const { answer } = await attempt(wrong);
    expect(answer.status).toBe(detail === 'unreachable' || detail === 'unexpected response' ? 503 : 401);
    const refusal = await lastRefusal();
    expect(JSON.stringify(refusal)).not.toContain('script');
    expect([refusal.reason, refusal.detail]).toEqual(['token_exchange_failed', detail]);
  });

  it('has its own errors reported by a short code only', async () => {
    for (const [error, detail] of [
      ['access_denied', 'access_denied'],
      ['<b>login required</b>', 'unreadable error'],
    ] as const) {
      expect((await attempt({}, { error, error_description: 'x' })).answer.body).toMatchObject({
        error: 'single sign-on failed: idp_error',
      });
      expect(await lastRefusal()).toMatchObject({ reason: 'idp_error', detail });
    }
  });

  it("cannot pass another issuer's response off as its own (mix-up, RFC 9207)", async () => {
    const mixed = expect.objectContaining({ error: 'single sign-on failed: invalid_assertion' });
    expect((await attempt({}, { iss: 'https://accounts.other.example' })).answer.body).toEqual(mixed);
    expect(
      (await attempt({ discovery: { authorization_response_iss_parameter_supported: true } })).answer.body,
    ).toEqual(mixed);
    expect(
      (await attempt({ discovery: { authorization_response_iss_parameter_supported: true } }, { iss: hostile.issuer }))
        .answer.status,
    ).toBe(200);
  });

  it.each<[string, Misbehaviour]>([
    ['weaker code challenges alone (PKCE downgrade)', { discovery: { code_challenge_methods_supported: ['plain'] } }],
    ['another issuer', { discovery: { issuer: 'https://accounts.other.example' } }],
    ['an address that is a script', { discovery: { authorization_endpoint: 'javascript:alert(1)' } }],
    ['no address to go to', { discovery: { authorization_endpoint: undefined } }],
  ])('that announces %s is not called', async (_what, wrong) => {
    hostile.behave(wrong);
    const { status, body, headers } = await app.anonymous.get(loginPath(acme));
    expect([status, body, headers.get('location')]).toEqual([
      401,
      expect.objectContaining({ error: 'single sign-on failed: idp_error' }),
      null,
    ]);
    expect((await lastRefusal()).reason).toBe('idp_error');
  });

  it('has a state rejected that is forged, altered, or of another kind of sign-in', async () => {
    const { state, cookie } = await startsSignIn(app.anonymous, loginPath(acme));
    const altered = state.replace(/.{4}$/, (end) => [...end].map((letter) => (letter === 'A' ? 'B' : 'A')).join(''));
    const other = await app.newTenant();
    await configure(other, hostile.issuer);
    const foreign = state.replace(
      /^[^.]+/,
      Buffer.from(other.tenantId.replaceAll('-', ''), 'hex').toString('base64url'),
    );
    for (const wrong of ['', 'nonsense', `page.${'x'.repeat(60)}`, altered, foreign]) {
      const answer = await returnsFromProvider(app.anonymous, CALLBACK, { code: 'a-code', state: wrong }, cookie);
      expect(wrong.startsWith('page.') ? answer.headers.get('location') : answer.body.error).toMatch(/invalid_state$/);
    }
    expect(await lastRefusal(other)).toMatchObject({ total: 1, reason: 'invalid_state' });
    const atOrganization = await returnsFromProvider(
      app.anonymous,
      '/api/v1/org/auth/sso/callback',
      { code: 'a-code', state },
      cookie,
    );
    expect(atOrganization.headers.get('location')).toBe('/login?org_sso_error=invalid_state');
  });
});

it('rejects an issuer address that is shared by all customers of a provider', async () => {
  const issuerUrl = 'https://login.microsoftonline.com/common/v2.0';
  const document = {
    issuer: issuerUrl.replace('common', '{tenantid}'),
    authorization_endpoint: `${issuerUrl}/authorize`,
    token_endpoint: `${issuerUrl}/token`,
    jwks_uri: `${issuerUrl}/keys`,
  };
  const fetch: GuardedFetch = async () => Response.json(document);
  const provider = openIdProvider(
    { issuerUrl, clientId: 'c', clientSecret: null, scopes: 'openid', ...DEFAULT_ISSUER_TRUST },
    { fetch, allowHttp: false },
  );
  const request = {
    redirectUri: 'https://castellan.example/callback',
    state: 's',
    nonce: 'n',
    codeVerifier: 'v'.repeat(43),
  };
  await expect(provider.authorizationUrl(request)).rejects.toMatchObject({
    reason: 'idp_error',
    detail: 'another issuer',
  });
});

describe("codes of a valid provider in an attacker's hands", () => {
  let provider: TestOpenIdProvider;
  let tenant: TestTenant;
  beforeAll(async () => {
    provider = await startOpenIdProvider({ redirectUris: [`https://castellan.example${CALLBACK}`] });
    tenant = await app.newTenant();
    await configure(tenant, provider.issuer, { clientSecret: provider.clientSecret });
  });
  afterAll(() => provider?.close());

  it('are rejected in another sign-in (code injection), a second time, and without their issuer', async () => {
    provider.signsIn({ email: tenant.email });
    const own = await startsSignIn(app.anonymous, loginPath(tenant));
    const { searchParams: stolen } = await provider.visit(own.address.href);
    const victim = await startsSignIn(app.anonymous, loginPath(tenant));
    const injected = await returnsFromProvider(
      app.anonymous,
      CALLBACK,
      { code: stolen.get('code')!, state: victim.state, iss: provider.issuer },
      victim.cookie,
    );
    expect(injected.body).toEqual(expect.objectContaining({ error: 'single sign-on failed: token_exchange_failed' }));
    expect(await lastRefusal(tenant)).toMatchObject({ reason: 'token_exchange_failed', detail: 'invalid_grant' });

    const once = await startsSignIn(app.anonymous, loginPath(tenant));
    const back = await provider.visit(once.address.href);
    const stripped = new URLSearchParams(back.searchParams);
    stripped.delete('iss');
    expect((await returnsFromProvider(app.anonymous, CALLBACK, stripped, once.cookie)).body).toMatchObject({
      error: 'single sign-on failed: invalid_assertion',
    });

    const good = await startsSignIn(app.anonymous, loginPath(tenant));
    const goodBack = await provider.visit(good.address.href);
    expect((await returnsFromProvider(app.anonymous, CALLBACK, goodBack.searchParams, good.cookie)).status).toBe(200);
    const next = await startsSignIn(app.anonymous, loginPath(tenant));
    const replayed = await returnsFromProvider(
      app.anonymous,
      CALLBACK,
      { code: goodBack.searchParams.get('code')!, state: next.state, iss: provider.issuer },
      next.cookie,
    );
    expect(replayed.body).toEqual(expect.objectContaining({ error: 'single sign-on failed: token_exchange_failed' }));
  });
});

describe('addresses that must not be called', () => {
  it.each([
    'https://169.254.169.254',
    'https://10.1.2.3',
    'https://127.0.0.1:1',
    'https://[::1]',
    'https://[::ffff:169.254.169.254]',
    'https://[::ffff:a9fe:a9fe]',
    'https://0x7f000001',
    'https://localhost',
  ])('%s: neither the connection test nor a sign-in calls it, and both report that', async (issuerUrl) => {
    const strict = await strictApp();
    const tenant = await strict.newTenant();
    const tested = await tenant.admin.post(`${CONFIGS}/test`, { issuerUrl, clientId: 'c' });
    // A name is resolved by the test; an address is refused as by the creation.
    if (issuerUrl === 'https://localhost')
      expect(tested.body).toMatchObject({ success: false, message: expect.stringMatching(/^the address leads to /) });
    else expect([tested.status, tested.body.fields]).toEqual([400, [expect.objectContaining({ field: 'issuerUrl' })]]);
    const refused = await tenant.admin.post(CONFIGS, { issuerUrl, clientId: 'c' });
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringMatching(/^validation failed: issuerUrl: /),
    ]);
    // As if its name had led elsewhere when it was saved.
    await storeUnchecked(strict, tenant, issuerUrl);
    const answer = await strict.anonymous.get(loginPath(tenant));
    expect([answer.status, answer.body]).toEqual([
      401,
      expect.objectContaining({ error: 'single sign-on failed: idp_error' }),
    ]);
    await strict.settled();
    const { auditLogs } = (await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body;
    expect(auditLogs[0].details).toMatchObject({ reason: 'idp_error', detail: 'the address is not public' });
    const org = await newOrganization(strict);
    const { status, body } = await org.write('POST', '/api/v1/org/sso-configs', { issuerUrl, clientId: 'c' });
    expect([status, body.error]).toEqual([400, refused.body.error]);
  });

  let kept: TestApp | undefined;
  const strictApp = async () => (kept ??= await startApp());
  afterAll(() => kept?.close());

  describe('named by a permitted provider', () => {
    let server: Server;
    let issuer: string;
    let reached = 0;
    let serve: (path: string) => { status: number; location?: string; body?: object };
    beforeAll(async () => {
      server = createServer((request, response) => {
        if (request.url === '/target') reached += 1;
        const { status, location, body } = serve(request.url!);
        response
          .writeHead(status, { 'content-type': 'application/json', ...(location ? { location } : {}) })
          .end(JSON.stringify(body ?? {}));
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => new Promise((closed) => server.close(closed)));

    const document = (over: object = {}) => ({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      ...over,
    });
    /** The issuer itself is permitted, as a public one would be; all else meets the guard as in production. */
    const lenient: GuardedFetch = (address, request) =>
      guardedFetch({ allowPrivate: new URL(address).origin === issuer })(address, request);
    const client = () =>
      openIdProvider(
        { issuerUrl: issuer, clientId: 'c', clientSecret: 's', scopes: 'openid', ...DEFAULT_ISSUER_TRUST },
        { fetch: lenient, allowHttp: true },
      );
    const request = {
      redirectUri: 'https://castellan.example/callback',
      state: 's',
      nonce: 'n',
      codeVerifier: 'v'.repeat(43),
    };

    it('are not called for tokens or keys', async () => {
      for (const target of [
        'https://169.254.169.254/token',
        'https://[::ffff:10.0.0.1]/token',
        'https://localhost/token',
      ]) {
        serve = () => ({ status: 200, body: document({ token_endpoint: target }) });
        await expect(client().redeem(new URLSearchParams({ code: 'c', state: 's' }), request)).rejects.toMatchObject({
          reason: 'token_exchange_failed',
          detail: 'the address is not public',
        });
      }
    });

    it('are not followed in redirects', async () => {
      serve = (path) =>
        path.includes('well-known') ? { status: 302, location: `${issuer}/target` } : { status: 200, body: document() };
      await expect(client().authorizationUrl(request)).rejects.toMatchObject({ reason: 'idp_error' });
      serve = (path) =>
        path.includes('well-known') ? { status: 200, body: document() } : { status: 307, location: `${issuer}/target` };
      await expect(client().redeem(new URLSearchParams({ code: 'c', state: 's' }), request)).rejects.toMatchObject({
        reason: 'token_exchange_failed',
      });
      expect(reached).toBe(0);
    });
  });
});
