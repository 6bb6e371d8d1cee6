import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  startHostileOpenIdProvider,
  type HostileOpenIdProvider,
  type Misbehaviour,
} from '../../../dsl/hostile-openid-provider.ts';
import { returnsFromProvider, startsSignIn } from '../../../dsl/sso-browser.ts';

const CALLBACK = '/api/v1/auth/sso/callback';

let app: TestApp;
let provider: HostileOpenIdProvider;
let acme: TestTenant;
/** The same, and its configuration says `emailsVerified`. */
let vouching: TestTenant;
let nonce = '';
beforeAll(async () => {
  app = await startApp({ devMode: true });
  provider = await startHostileOpenIdProvider('castellan', () => nonce);
  [acme, vouching] = [await app.newTenant(), await app.newTenant()];
  const config = { issuerUrl: provider.issuer, clientId: provider.clientId, clientSecret: 'hush' };
  const vouched = { emailsVerified: true, emailDomains: [vouching.email.split('@')[1]] };
  expect((await acme.admin.post('/api/v1/admin/sso-configs', config)).status).toBe(201);
  expect((await vouching.admin.post('/api/v1/admin/sso-configs', { ...config, ...vouched })).status).toBe(201);
});
afterAll(async () => {
  await provider?.close();
  await app?.close();
});

const start = async (tenant = acme, over = '') => {
  provider.behave({});
  const started = await startsSignIn(app.anonymous, `/api/v1/auth/sso/login?tenant_id=${tenant.tenantId}${over}`);
  ({ nonce } = started);
  return (behaviour: Misbehaviour = {}, query: Record<string, string> = {}) => {
    provider.behave({ ...behaviour, claims: { email: tenant.email, ...behaviour.claims } });
    return returnsFromProvider(app.anonymous, CALLBACK, { code: 'c', state: started.state, ...query }, started.cookie);
  };
};
const lastRefusal = async (tenant = acme): Promise<string> => {
  await app.settled();
  const { body } = await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused');
  const { reason, detail } = body.auditLogs[0].details as { reason: string; detail: string | null };
  return `${reason}: ${detail}`;
};
const now = () => Math.floor(Date.now() / 1_000);
const html = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>away</html>' };
const json = (body: unknown, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const jwk = () => ({ ...createPublicKey(provider.key).export({ format: 'jwk' }), kid: 'k1', use: 'sig' });

describe('a provider that cannot serve now', () => {
  const DISCOVERY = '/.well-known/openid-configuration';
  const asksUserinfo = { userinfo: { status: 200 }, claims: { email_verified: undefined } };
  it.each<[string, Misbehaviour, string]>([
    ['discovery 429', { discoveryStatus: 429 }, 'idp_error: too many requests'],
    ['discovery with a page', { raw: { [DISCOVERY]: html } }, 'idp_error: unexpected response'],
    ['discovery with a redirect', { raw: { [DISCOVERY]: { status: 302 } } }, 'idp_error: unexpected response'],
    ['token 429', { raw: { '/token': { status: 429 } } }, 'token_exchange_failed: too many requests'],
    [
      'token 429 with an error',
      { raw: { '/token': json({ error: 'too_many_requests' }, 429) } },
      'token_exchange_failed: too many requests',
    ],
    ['token 408', { raw: { '/token': { status: 408 } } }, 'token_exchange_failed: unreachable'],
    [
      'token 503 with an error',
      { raw: { '/token': json({ error: 'server_error' }, 503) } },
      'token_exchange_failed: unreachable',
    ],
    ['token with a page', { raw: { '/token': html } }, 'token_exchange_failed: unexpected response'],
    ['keys 429', { raw: { '/jwks': { status: 429 } } }, 'idp_error: too many requests'],
    ['keys 408', { raw: { '/jwks': { status: 408 } } }, 'idp_error: unreachable'],
    ['keys 503', { raw: { '/jwks': { status: 503 } } }, 'idp_error: unreachable'],
    ['keys with a redirect', { raw: { '/jwks': { status: 302 } } }, 'idp_error: unexpected response'],
    ['keys with a page', { raw: { '/jwks': html } }, 'idp_error: unexpected response'],
    ['userinfo 503', { ...asksUserinfo, userinfo: { status: 503 } }, 'idp_error: unreachable'],
    ['userinfo 429', { ...asksUserinfo, userinfo: { status: 429 } }, 'idp_error: too many requests'],
    ['userinfo 302', { ...asksUserinfo, userinfo: { status: 302 } }, 'idp_error: unexpected response'],
    ['userinfo with a page', { ...asksUserinfo, raw: { '/userinfo': html } }, 'idp_error: unexpected response'],
  ])('%s gives 503 with Retry-After, and the same address counts later', async (_what, behaviour, refusal) => {
    for (const tenant of [acme, vouching]) {
      const comeBack = await start(tenant);
      const refused = await comeBack(behaviour);
      expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
        503,
        'identity_provider_unavailable',
        expect.stringMatching(/^\d+$/),
      ]);
      expect(await lastRefusal(tenant)).toBe(refusal);
      expect((await comeBack()).status).toBe(200);
    }
  });
});

describe('a userinfo endpoint without a statement', () => {
  const unstated = { email_verified: undefined };
  it.each<[string, Misbehaviour, string]>([
    ['400', { userinfo: { status: 400 } }, 'idp_error: unexpected status'],
    [
      'a broken token',
      {
        userinfo: { status: 200 },
        raw: { '/userinfo': { status: 200, headers: { 'content-type': 'application/jwt' }, body: 'a.b.c' } },
      },
      'invalid_assertion: malformed',
    ],
    ['another person', { userinfo: { status: 200, claims: { sub: 'bob' } } }, 'invalid_assertion: two subjects'],
    [
      'an address that is not public',
      { userinfo: { status: 200 }, discovery: { userinfo_endpoint: 'http://169.254.169.254/userinfo' } },
      'idp_error: the address is not public',
    ],
    [
      'no address',
      { userinfo: { status: 200 }, discovery: { userinfo_endpoint: 'userinfo' } },
      'idp_error: the address is not a URL',
    ],
    [
      'too much',
      { userinfo: { status: 200, claims: { filler: 'x'.repeat(1_500_000) } } },
      'invalid_assertion: too_large',
    ],
  ])('(%s) admits nobody, whatever the configuration says', async (_what, behaviour, refusal) => {
    expect((await (await start(vouching))({ ...behaviour, claims: unstated })).status).toBe(401);
    expect(await lastRefusal(vouching)).toBe(refusal);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['null', {}, { email: null, email_verified: true }, 'email_not_verified: nothing said'],
    ['null in both', { email: null }, { email: null, email_verified: true }, 'email_not_verified: no e-mail'],
    ['null, and a no', {}, { email: null, email_verified: false }, 'email_not_verified: called unverified'],
    ['another one', {}, { email: 'b@b.example', email_verified: true }, 'email_not_verified: two e-mails'],
  ])('whose e-mail is %s is refused for what it is', async (_what, idToken, claims, refusal) => {
    const userinfo = { status: 200, claims };
    expect((await (await start())({ userinfo, claims: { ...unstated, ...idToken } })).status).toBe(401);
    expect(await lastRefusal()).toBe(refusal);
  });

  it('names the e-mail that is null in the ID token', async () => {
    const userinfo = { status: 200, claims: { email: acme.email, email_verified: true } };
    expect((await (await start())({ userinfo, claims: { ...unstated, email: null } })).status).toBe(200);
  });

  it.each([401, 403, 404])('(%d) says nothing, so the configuration decides', async (status) => {
    expect((await (await start(vouching))({ userinfo: { status }, claims: unstated })).status).toBe(200);
    expect((await (await start())({ userinfo: { status }, claims: unstated })).status).toBe(401);
    expect(await lastRefusal()).toBe('email_not_verified: nothing said');
    expect((await (await start())({ userinfo: { status }, claims: { email: undefined } })).status).toBe(401);
    expect(await lastRefusal()).toBe('email_not_verified: userinfo refused');
  });
});

describe('an e-mail', () => {
  const said = (claims: object, at: 'token' | 'userinfo') =>
    at === 'token'
      ? { claims: { email_verified: undefined, ...claims } }
      : { claims: { email_verified: undefined }, userinfo: { status: 200, claims: { ...claims } } };
  const denials = [false, 'false', 'False', 'FALSE', 'no', '0', 0, ''];

  it.each(['token', 'userinfo'] as const)('that the %s calls unverified in whatever word is refused', async (at) => {
    for (const name of ['email_verified', 'xms_edov']) {
      for (const value of denials) {
        const { status } = await (await start(vouching))(said({ [name]: value }, at));
        expect([name, value, status]).toEqual([name, value, 401]);
      }
      expect(await lastRefusal(vouching)).toBe('email_not_verified: called unverified');
    }
    expect((await (await start(vouching))(said({ email_verified: null }, at))).status).toBe(200);
  });

  it.each(['token', 'userinfo'] as const)('that the %s calls verified, as text or number, counts', async (at) => {
    for (const name of ['email_verified', 'xms_edov']) {
      for (const value of [true, 'true', 'True', '1', 1]) {
        const { status } = await (await start())(said({ [name]: value, email: acme.email }, at));
        expect([name, value, status]).toEqual([name, value, 200]);
      }
    }
  });
});

describe('the detail of a refusal', () => {
  const refused = async (behaviour: Misbehaviour, query: Record<string, string> = {}) => {
    expect((await (await start())(behaviour, query)).status).toBe(401);
    return lastRefusal();
  };

  it.each<[string, Misbehaviour, string]>([
    ['a forged signature', { signature: 'stranger' }, 'signature'],
    ['a broken signature', { signature: 'broken' }, 'signature'],
    ['a signature of another form', { tokenResponse: { id_token: 'e30.e30.e30' } }, 'alg'],
    ['no signature', { signature: 'none' }, 'not signed'],
    [
      'no signature, as announced',
      { signature: 'none', discovery: { id_token_signing_alg_values_supported: ['none'] } },
      'not signed',
    ],
    ['an HMAC', { signature: 'hmac' }, 'alg'],
    [
      'an HMAC, as announced',
      { signature: 'hmac', discovery: { id_token_signing_alg_values_supported: ['HS256'] } },
      'alg',
    ],
    ['another key id', { header: { kid: 'k9' } }, 'oauth_key_selection_failed'],
    ['garbage', { tokenResponse: { id_token: 'garbage' } }, 'malformed'],
    ['garbage in three parts', { tokenResponse: { id_token: '!.!.!' } }, 'malformed'],
    ['an encrypted token', { tokenResponse: { id_token: 'e30.e30.e30.e30.e30' } }, 'encrypted'],
    ['an extension that must be understood', { header: { crit: ['x'], x: 1 } }, 'crit'],
    ['no nonce', { claims: { nonce: undefined } }, 'no nonce'],
    ['another nonce', { claims: { nonce: 'n' } }, 'nonce'],
    ['no subject', { claims: { sub: undefined } }, 'no sub'],
    ['a subject that is no text', { claims: { sub: 5 } }, 'no sub'],
    ['no end', { claims: { exp: undefined } }, 'no exp'],
    ['no start', { claims: { iat: undefined } }, 'no iat'],
    ['no audience', { claims: { aud: undefined } }, 'no aud'],
    ['no issuer', { claims: { iss: undefined } }, 'no iss'],
    ['another audience', { claims: { aud: 'other' } }, 'aud'],
    ['another issuer', { claims: { iss: 'https://other.example' } }, 'iss'],
    ['no ID token', { withoutIdToken: true }, 'no id token'],
    ['a large token', { tokenResponse: { id_token: 'x'.repeat(2_000_000) } }, 'too_large'],
  ])('for %s names it', async (_what, behaviour, detail) => {
    expect(await refused(behaviour)).toBe(`invalid_assertion: ${detail}`);
  });

  it('for a key that is none names the keys', async () => {
    const { e: _exponent, ...incomplete } = jwk();
    for (const keys of [[incomplete], [{ ...jwk(), n: 'AQAB' }], 'none'])
      expect(await refused({ raw: { '/jwks': json({ keys }) } })).toBe('invalid_assertion: unreadable keys');
  });

  it.each<[string, Record<string, unknown>]>([
    ['expires_in', { expires_in: null }],
    ['refresh_token', { refresh_token: null }],
    ['token_type', { token_type: undefined }],
    ['access_token', { access_token: undefined }],
  ])('for a token response with a wrong %s is about the response', async (_what, tokenResponse) => {
    expect(await refused({ tokenResponse })).toBe('token_exchange_failed: token response');
  });

  it('for a token of another type names the type', async () => {
    expect(await refused({ tokenResponse: { token_type: 'mac' } })).toBe('invalid_assertion: token_type');
  });

  it.each<[string, Record<string, string>, Misbehaviour, string]>([
    ['another issuer', { iss: 'https://other.example' }, {}, 'invalid_assertion: response of another issuer'],
    ['an empty issuer', { iss: '' }, {}, 'invalid_assertion: response of another issuer'],
    [
      'no issuer, though announced',
      {},
      { discovery: { authorization_response_iss_parameter_supported: true } },
      'invalid_assertion: response without iss',
    ],
    ['no code', { code: '' }, {}, 'invalid_assertion: no code'],
    ['an error of another form', { error: 'Große Störung' }, {}, 'idp_error: unreadable error'],
  ])('for a callback with %s says so', async (_what, query, behaviour, refusal) => {
    expect(await refused(behaviour, query)).toBe(refusal);
  });

  it.each([
    ['jwks_uri', 'no keys'],
    ['token_endpoint', 'no token endpoint'],
  ])('for a discovery document without %s is said at the start', async (name, detail) => {
    provider.behave({ discovery: { [name]: undefined } });
    const { status } = await app.anonymous.get(`/api/v1/auth/sso/login?tenant_id=${acme.tenantId}`);
    expect([status, await lastRefusal()]).toEqual([401, `idp_error: ${detail}`]);
  });
});

describe('a proof through the provider', () => {
  it('needs an authentication at most 300 seconds ago', async () => {
    const authenticated = async (auth_time: unknown) =>
      (await start(acme, '&reauthenticate=true'))({ claims: { auth_time } });
    for (const age of [310, 400, 470]) {
      expect((await authenticated(now() - age)).status).toBe(401);
      expect(await lastRefusal()).toBe('invalid_assertion: auth_time');
    }
    for (const age of [0, 290]) expect((await authenticated(now() - age)).body.reAuthToken).toEqual(expect.any(String));
    for (const none of [undefined, 'now', null]) {
      expect((await authenticated(none)).status).toBe(401);
      expect(await lastRefusal()).toBe('invalid_assertion: no auth_time');
    }
  });
});
