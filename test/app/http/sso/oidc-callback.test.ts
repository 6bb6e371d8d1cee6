import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStoreUnavailable } from '../../../../src/platform/eventstore/port.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  startHostileOpenIdProvider,
  type HostileOpenIdProvider,
  type Misbehaviour,
} from '../../../dsl/hostile-openid-provider.ts';
import { returnsFromProvider, startsSignIn } from '../../../dsl/sso-browser.ts';

const CALLBACK = '/api/v1/auth/sso/callback';

let app: TestApp;
let acme: TestTenant;
let provider: HostileOpenIdProvider;
let nonce = '';
beforeAll(async () => {
  app = await startApp({ devMode: true });
  provider = await startHostileOpenIdProvider('castellan', () => nonce);
});
beforeEach(async () => {
  acme = await app.newTenant();
});
afterAll(async () => {
  await provider?.close();
  await app?.close();
});

const configure = async (over: object = {}) => {
  provider.behave({});
  const config = { issuerUrl: provider.issuer, clientId: provider.clientId, clientSecret: 'hush', ...over };
  expect((await acme.admin.post('/api/v1/admin/sso-configs', config)).status).toBe(201);
};
const start = async (over = '') => {
  provider.behave({});
  const started = await startsSignIn(app.anonymous, `/api/v1/auth/sso/login?tenant_id=${acme.tenantId}${over}`);
  ({ nonce } = started);
  return (behaviour: Misbehaviour) => {
    provider.behave({ ...behaviour, claims: { email: acme.email, ...behaviour.claims } });
    return returnsFromProvider(app.anonymous, CALLBACK, { code: 'c', state: started.state }, started.cookie);
  };
};
const signIn = async (behaviour: Misbehaviour) => (await start())(behaviour);
const audited = async () => {
  await app.settled();
  const { body } = await acme.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused');
  return (body.auditLogs as { details: { reason: string; detail: string } }[]).map(
    ({ details: { reason, detail } }) => `${reason}: ${detail}`,
  );
};

describe('a callback while the provider is away', () => {
  it.each([
    ['its metadata', { discoveryStatus: 503 }],
    ['its token endpoint', { token: { status: 503 } }],
    ['its userinfo endpoint', { userinfo: { status: 503 }, claims: { email_verified: undefined } }],
  ])('%s: gets 503 with Retry-After, and counts once it is back', async (_what, away) => {
    await configure();
    const comeBack = await start();
    const refused = await comeBack(away);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'identity_provider_unavailable',
      expect.stringMatching(/^\d+$/),
    ]);
    expect(await audited()).toEqual([expect.stringMatching(/: unreachable$/)]);
    expect((await comeBack({})).status).toBe(200);
    expect((await comeBack({})).body.error).toBe('single sign-on failed: invalid_state');
  });
});

describe('a start', () => {
  const started = async () => app.anonymous.get(`/api/v1/auth/sso/login?tenant_id=${acme.tenantId}`);

  it('gets 503 with Retry-After while the provider is away', async () => {
    await configure();
    provider.behave({ discoveryStatus: 503 });
    const { status, body, headers } = await started();
    expect([status, body.code]).toEqual([503, 'identity_provider_unavailable']);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it.each([
    ['no S256', { discovery: { code_challenge_methods_supported: ['plain'] } }],
    ['another issuer', { discovery: { issuer: 'https://other.example' } }],
    ['no authorization endpoint', { discovery: { authorization_endpoint: undefined } }],
    [
      'the address must not contain credentials',
      { discovery: { authorization_endpoint: 'https://user:pass@idp.example/authorize' } },
    ],
    ['discovery', { discoveryStatus: 404 }],
  ])('gets 401 for what no waiting helps against: %s', async (detail, wrong) => {
    await configure();
    provider.behave(wrong);
    const { status, body, headers } = await started();
    expect([status, body.code, headers.get('retry-after')]).toEqual([401, 'single_sign_on_failed', null]);
    expect(await audited()).toEqual([`idp_error: ${detail}`]);
  });
});

it.each([
  ['https://user:pass@idp.example/logout', null],
  ['javascript:alert(1)', null],
  ['https://idp.example/logout', expect.stringMatching(/^https:\/\/idp\.example\/logout\?/)],
])('a sign-out leads to %s only if browsers can be sent there', async (endpoint, logoutUrl) => {
  await configure();
  const { body } = await signIn({});
  provider.behave({ discovery: { end_session_endpoint: endpoint } });
  expect((await app.as(body.accessToken).post('/api/v1/auth/sso/logout')).body).toEqual({ success: true, logoutUrl });
});

describe('a callback while the database is away', () => {
  it.each(['peek', 'spend'] as const)(
    'gets 503, whatever statement fails first, and counts again: %s',
    async (method) => {
      await configure();
      const comeBack = await start();
      const failing = vi
        .spyOn(app.services.oneTimeTokens, method)
        .mockRejectedValueOnce(new EventStoreUnavailable('away'));
      const refused = await comeBack({});
      failing.mockRestore();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
      expect((await comeBack({})).status).toBe(200);
    },
  );

  it('gets 503 and counts again if the configuration cannot be read', async () => {
    await configure();
    const comeBack = await start();
    const failing = vi.spyOn(app.services.loader, 'load').mockRejectedValue(new EventStoreUnavailable('away'));
    expect((await comeBack({})).status).toBe(503);
    failing.mockRestore();
    expect((await comeBack({})).status).toBe(200);
  });
});

it('a sign-in that returns to the page needs its challenge', async () => {
  await configure();
  const { status, body } = await app.anonymous.get(`/api/v1/auth/sso/login?tenant_id=${acme.tenantId}&return_to=login`);
  expect([status, body.fields]).toEqual([400, [{ field: 'challenge', message: 'is required with return_to' }]]);
});

describe('the e-mail of a person', () => {
  const unstated = { email_verified: undefined };
  const vouching = () => ({ emailsVerified: true, emailDomains: [acme.email.split('@')[1]] });

  it('that the userinfo endpoint calls unverified is refused, whatever the configuration says', async () => {
    await configure(vouching());
    const said = (claims: Record<string, unknown>) =>
      signIn({ claims: unstated, userinfo: { status: 200, claims: { email: acme.email, ...claims } } });
    expect((await said({ email_verified: false })).status).toBe(401);
    expect(await audited()).toEqual(['email_not_verified: called unverified']);
    expect((await said({})).status).toBe(200);
    // It says nothing to this client.
    expect((await signIn({ claims: unstated, userinfo: { status: 403 } })).status).toBe(200);
  });

  it('is that of the signed token: another one of the userinfo endpoint makes nobody somebody else', async () => {
    await configure();
    const refused = await signIn({
      claims: { ...unstated, email: 'ann@elsewhere.example' },
      userinfo: { status: 200, claims: { email: acme.email, email_verified: true } },
    });
    expect(refused.status).toBe(401);
    expect(await audited()).toEqual(['email_not_verified: two e-mails']);
  });
});

describe('an ID token', () => {
  const later = Math.floor(Date.now() / 1_000) + 3_600;
  it.each([
    ['from the future', { claims: { iat: later, exp: later + 60 } }, 'iat'],
    ['that is an access token', { header: { typ: 'at+jwt' } }, 'typ'],
    ['that is a logout token', { header: { typ: 'logout+jwt' } }, 'typ'],
  ] as const)('%s is refused', async (_what, behaviour, detail) => {
    await configure();
    expect((await signIn(behaviour)).status).toBe(401);
    expect(await audited()).toEqual([`invalid_assertion: ${detail}`]);
  });

  it('whose authentication is to come proves none', async () => {
    await configure();
    const refused = await (await start('&reauthenticate=true'))({ claims: { auth_time: later } });
    expect(refused.status).toBe(401);
    expect(await audited()).toEqual(['invalid_assertion: auth_time']);
  });
});
