import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { compose } from '../../../../src/app/compose/compose.ts';
import { EventStoreUnavailable } from '../../../../src/platform/eventstore/port.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { httpClient, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  startHostileOpenIdProvider,
  type HostileOpenIdProvider,
  type Misbehaviour,
} from '../../../dsl/hostile-openid-provider.ts';
import { lostOnce } from '../../../dsl/lose-response-once.ts';
import { logoutToken, type LogoutTokenFault } from '../../../dsl/logout-token.ts';
import { startOpenIdProvider, type TestOpenIdProvider } from '../../../dsl/openid-provider.ts';
import { newOrganization } from '../../../dsl/organization.ts';
import { rsaKey } from '../../../dsl/rsa-keys.ts';
import { cookiesOf, returnsFromProvider, startsSignIn } from '../../../dsl/sso-browser.ts';

const HOME = 'https://castellan.example';
const CALLBACK = '/api/v1/auth/sso/callback';
const ORG = '/api/v1/org/auth/sso';

let app: TestApp;
let acme: TestTenant;
beforeAll(async () => {
  app = await startApp({ devMode: true });
});
beforeEach(async () => {
  acme = await app.newTenant();
});
afterAll(() => app?.close());

interface Registered {
  readonly issuer: string;
  readonly clientId: string;
}
/** Configures the provider, and returns the address that the response names for registration there. */
const configure = async ({ issuer, clientId }: Registered, tenant = acme): Promise<string> => {
  const answer = await tenant.admin.post('/api/v1/admin/sso-configs', {
    issuerUrl: issuer,
    clientId,
    clientSecret: 'hush',
  });
  expect(answer.status).toBe(201);
  return answer.body.backchannelLogoutUri as string;
};
const report = (uri: string, form: Record<string, string>) =>
  app.anonymous.send('POST', uri.slice(HOME.length), {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const isLive = async ({ accessToken }: { readonly accessToken: string }): Promise<boolean> =>
  (await app.as(accessToken).get('/api/v1/admin/me')).status === 200;
const audited = async (action: string, tenant = acme) => {
  await app.settled();
  const { body } = await tenant.admin.get(`/api/v1/admin/audit-log?action=${action}`);
  return (body.auditLogs as { details: Record<string, unknown> }[]).map(({ details }) => details);
};

describe('a logout at a provider', () => {
  let provider: TestOpenIdProvider;
  let uri = '';
  const received: number[] = [];
  beforeAll(async () => {
    provider = await startOpenIdProvider({
      redirectUris: [HOME + CALLBACK],
      backchannelLogout: async (form) => {
        const { status } = await report(uri, Object.fromEntries(form));
        received.push(status);
        return status;
      },
    });
  });
  afterAll(() => provider?.close());

  const signIn = async () => {
    provider.signsIn({ email: acme.email });
    const { address, cookie } = await startsSignIn(app.anonymous, `/api/v1/auth/sso/login?tenant_id=${acme.tenantId}`);
    const { searchParams } = await provider.visit(address.href);
    const { status, body } = await returnsFromProvider(app.anonymous, CALLBACK, searchParams, cookie);
    expect(status).toBe(200);
    return body as { accessToken: string; refreshToken: string };
  };

  it('ends the session that began in that browser, at once and for good, and no other one', async () => {
    const { issuer: issuerUrl, clientId, clientSecret } = provider;
    const config = await acme.admin.post('/api/v1/admin/sso-configs', { issuerUrl, clientId, clientSecret });
    uri = config.body.backchannelLogoutUri;
    const elsewhere = await signIn();
    const here = await signIn();
    await provider.logsOut();
    expect(received).toEqual([200]);
    expect([await isLive(here), await isLive(elsewhere)]).toEqual([false, true]);
    const { refreshToken } = here;
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken })).status).toBe(401);
    expect(await audited('session.ended')).toEqual([expect.objectContaining({ reason: 'sso_logout' })]);
  });
});

describe('a logout token', () => {
  let hostile: HostileOpenIdProvider;
  let nonce = '';
  beforeAll(async () => {
    hostile = await startHostileOpenIdProvider('castellan', () => nonce);
  });
  afterAll(() => hostile?.close());

  const callback = async (claims: Misbehaviour['claims'], over: Record<string, string> = {}, tenant = acme) => {
    const query = new URLSearchParams({ tenant_id: tenant.tenantId, ...over });
    hostile.behave({ claims: { email: tenant.email, ...claims } });
    const started = await startsSignIn(app.anonymous, `/api/v1/auth/sso/login?${query.toString()}`);
    ({ nonce } = started);
    return returnsFromProvider(app.anonymous, CALLBACK, { code: 'c', state: started.state }, started.cookie);
  };
  const signIn = async (claims: Misbehaviour['claims'] = { sid: 's-1' }, tenant = acme) => {
    const { status, body } = await callback(claims, {}, tenant);
    expect(status).toBe(200);
    return body as { accessToken: string };
  };
  const tokenFor = (about: { sub?: string; sid?: string }, fault?: LogoutTokenFault) =>
    logoutToken(hostile, about, fault);
  /** Test keys are shared: the provider's own may be the next one. */
  const otherKey = () => {
    let key = rsaKey();
    while (key.equals(hostile.key)) key = rsaKey();
    return key;
  };
  const send = (uri: string, token: string) => report(uri, { logout_token: token });

  it('of a person ends all of their sessions with the provider, and returns 200 without a body', async () => {
    const uri = await configure(hostile);
    const sessions = [await signIn(), await signIn({ sid: 's-2' }), await signIn({}), await signIn({ sub: 'bob' })];
    const { status, text, headers } = await send(uri, tokenFor({ sub: 'ann' }));
    expect([status, text, headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    expect(await Promise.all(sessions.map(isLive))).toEqual([false, false, false, true]);
    // The session of the password is none of the provider's.
    expect((await acme.admin.get('/api/v1/admin/me')).status).toBe(200);
  });

  it('of a session ends that session, and one that the provider did not name', async () => {
    const uri = await configure(hostile);
    const sessions = [await signIn(), await signIn({ sid: 's-2' }), await signIn({})];
    expect((await send(uri, tokenFor({ sid: 's-1' }))).status).toBe(200);
    expect(await Promise.all(sessions.map(isLive))).toEqual([false, true, true]);
    expect((await send(uri, tokenFor({ sub: 'bob', sid: 's-2' }))).status).toBe(200);
    expect(await isLive(sessions[1]!)).toBe(true);
    expect((await send(uri, tokenFor({ sub: 'ann', sid: 's-2' }))).status).toBe(200);
    expect(await Promise.all(sessions.map(isLive))).toEqual([false, false, false]);
  });

  it('ends a sign-in that has not become a session yet', async () => {
    const uri = await configure(hostile);
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const exchange = async (logsOut: boolean) => {
      const answer = await callback({ sid: 's-1' }, { return_to: 'login', challenge });
      const code = new URL(answer.headers.get('location')!, HOME).searchParams.get('sso_code');
      if (logsOut) expect((await send(uri, tokenFor({ sid: 's-1' }))).status).toBe(200);
      return app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier });
    };
    expect((await exchange(true)).status).toBe(401);
    const { body } = await exchange(false);
    expect((await send(uri, tokenFor({ sid: 's-1' }))).status).toBe(200);
    expect(await isLive(body)).toBe(false);
  });

  it.each(['before', 'after'])('that comes during an exchange, %s the session is remembered, ends it', async (when) => {
    const uri = await configure(hostile);
    const remember = app.services.oidcSessions.remember.bind(app.services.oidcSessions);
    const loggedOutMeanwhile = () =>
      vi.spyOn(app.services.oidcSessions, 'remember').mockImplementationOnce(async (...session) => {
        if (when === 'before') expect((await send(uri, tokenFor({ sid: 's-1' }))).status).toBe(200);
        await remember(...session);
        if (when === 'after') expect((await send(uri, tokenFor({ sid: 's-1' }))).status).toBe(200);
      });
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const back = await callback({ sid: 's-1' }, { return_to: 'login', challenge });
    const code = new URL(back.headers.get('location')!, HOME).searchParams.get('sso_code');
    loggedOutMeanwhile();
    expect((await app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier })).status).toBe(401);
    // Without a page there is no exchange: the callback itself begins the session.
    loggedOutMeanwhile();
    expect((await callback({ sid: 's-1' })).status).toBe(401);
    vi.restoreAllMocks();
    await app.settled();
    const { body } = await acme.admin.get('/api/v1/admin/me/sessions');
    expect(body.sessions).toHaveLength(1);
  });

  it('is not needed for the codes of a session at the provider whose person signs out here', async () => {
    await configure(hostile);
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const pending = async (sid: string) => {
      const back = await callback({ sid }, { return_to: 'login', challenge });
      return new URL(back.headers.get('location')!, HOME).searchParams.get('sso_code');
    };
    const { accessToken } = await signIn();
    const codes = [await pending('s-1'), await pending('s-2')];
    expect((await app.as(accessToken).post('/api/v1/auth/sso/logout')).status).toBe(200);
    const exchanged = codes.map((code) => app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier }));
    expect((await Promise.all(exchanged)).map(({ status }) => status)).toEqual([401, 200]);
  });

  it.each([
    ['without an end or a type, as earlier drafts had it', { header: { typ: undefined }, claims: { exp: undefined } }],
    ['of the general type', { header: { typ: 'JWT' } }],
    ['for several clients', { claims: { aud: ['castellan', 'another'] } }],
    ['of a clock that is half a minute ahead', { claims: { iat: Math.floor(Date.now() / 1_000) + 30 } }],
  ])('%s counts', async (_what, fault) => {
    const uri = await configure(hostile);
    const session = await signIn();
    expect((await send(uri, tokenFor({ sub: 'ann' }, fault))).status).toBe(200);
    expect(await isLive(session)).toBe(false);
  });

  const ago = (seconds: number): number => Math.floor(Date.now() / 1_000) - seconds;
  const attacks: Record<string, [LogoutTokenFault, string]> = {
    'another audience': [{ claims: { aud: 'another' } }, 'aud'],
    'another issuer': [{ claims: { iss: 'https://issuer.example' } }, 'iss'],
    'an end in the past': [{ claims: { iat: ago(300), exp: ago(180) } }, 'exp'],
    'an age that no memory of tokens covers': [{ claims: { iat: ago(900), exp: ago(-900) } }, 'iat'],
    'a time in the future': [{ claims: { iat: ago(-300), exp: ago(-400) } }, 'iat'],
    'no signature': [{ signature: 'none' }, 'alg'],
    'the public key as a shared secret': [{ signature: 'hmac' }, 'alg'],
    'the signature of another key': [{ key: rsaKey(3072) }, 'signature'],
    'a critical header that is not understood': [{ header: { crit: ['x'], x: 1 } }, 'signature'],
    'the type of an access token': [{ header: { typ: 'at+jwt' } }, 'typ'],
    'a nonce, like an ID token': [{ claims: { nonce: 'n' } }, 'nonce'],
    'no event': [{ claims: { events: undefined } }, 'events'],
    'another event': [{ claims: { events: { 'http://schemas.openid.net/event/other': {} } } }, 'events'],
    'an event that is no object': [
      { claims: { events: { 'http://schemas.openid.net/event/backchannel-logout': true } } },
      'events',
    ],
    'no id': [{ claims: { jti: undefined } }, 'jti'],
    'neither a person nor a session': [{ claims: { sub: undefined } }, 'sub'],
    'a person who is no text': [{ claims: { sub: ['ann'] } }, 'sub'],
  };

  it('with any fault is refused with 400, ends nothing, and is audited', async () => {
    const uri = await configure(hostile);
    const session = await signIn();
    for (const [what, [fault, detail]] of Object.entries(attacks)) {
      const { status, body, headers } = await send(uri, tokenFor({ sub: 'ann' }, fault));
      expect([what, status, body.error, body.error_description, headers.get('cache-control')]).toEqual([
        what,
        400,
        'invalid_request',
        `logout refused: ${detail}`,
        'no-store',
      ]);
    }
    for (const garbage of ['x', 'a.b.c', 'e30.e30.e30']) expect((await send(uri, garbage)).status).toBe(400);
    expect(await isLive(session)).toBe(true);
    const details = (await audited('sso.logout_refused')).map(({ detail }) => detail);
    expect(details).toEqual(expect.arrayContaining(Object.values(attacks).map(([, detail]) => detail)));
  });

  it('counts once', async () => {
    const uri = await configure(hostile);
    const token = tokenFor({ sub: 'ann' });
    expect((await send(uri, token)).status).toBe(200);
    const session = await signIn();
    expect((await send(uri, token)).body).toMatchObject({ error: 'invalid_request' });
    expect(await isLive(session)).toBe(true);
    expect((await audited('sso.logout_refused')).map(({ detail }) => detail)).toEqual(['replayed']);
  });

  it('counts once also if it arrives many times at once', async () => {
    const uri = await configure(hostile);
    const session = await signIn();
    const token = tokenFor({ sub: 'ann' });
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => send(uri, token)))).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([200, ...Array<number>(9).fill(400)]);
    expect(await isLive(session)).toBe(false);
  });

  it('counts again after a logout that failed half way', async () => {
    const uri = await configure(hostile);
    const session = await signIn();
    const token = tokenFor({ sub: 'ann' });
    const failing = vi
      .spyOn(app.services.refreshTokens, 'revokeSession')
      .mockRejectedValueOnce(new EventStoreUnavailable('away'));
    expect((await send(uri, token)).status).toBe(503);
    failing.mockRestore();
    expect((await send(uri, token)).status).toBe(200);
    expect(await isLive(session)).toBe(false);
    expect((await send(uri, token)).status).toBe(400);
  });

  it('counts again if nobody knows whether it was claimed', async () => {
    const uri = await configure(hostile);
    const session = await signIn();
    const token = tokenFor({ sub: 'ann' });
    const restore = lostOnce(app.services, 'claimId');
    expect((await send(uri, token)).status).toBe(503);
    restore();
    expect((await send(uri, token)).status).toBe(200);
    expect(await isLive(session)).toBe(false);
  });

  it('of the provider of another tenant ends nothing', async () => {
    const other = await app.newTenant();
    const stranger = await startHostileOpenIdProvider('castellan', () => nonce);
    try {
      const [uri, theirs] = [await configure(hostile), await configure(stranger, other)];
      const session = await signIn();
      expect((await send(uri, logoutToken(stranger, { sub: 'ann' }))).status).toBe(400);
      // Signed by the stranger, in the name of this tenant's issuer.
      const forged = logoutToken({ ...stranger, issuer: hostile.issuer }, { sub: 'ann' });
      expect((await send(uri, forged)).status).toBe(400);
      expect((await send(theirs, tokenFor({ sub: 'ann' }))).status).toBe(400);
      expect((await send(theirs, logoutToken(stranger, { sub: 'ann' }))).status).toBe(200);
      expect(await isLive(session)).toBe(true);
    } finally {
      await stranger.close();
    }
  });

  it('is refused without a configuration, without the form, and while the keys cannot be read', async () => {
    const uri = `${HOME}/api/v1/auth/sso/backchannel-logout?tenant_id=${acme.tenantId}`;
    expect((await send(uri, tokenFor({ sub: 'ann' }))).body).toMatchObject({ error: 'invalid_request' });
    expect(await audited('sso.logout_refused')).toEqual([]);
    await configure(hostile);
    const without = await report(uri, {});
    expect([without.status, without.body.error]).toEqual([400, 'invalid_request']);
    hostile.behave({ discovery: { jwks_uri: `${hostile.issuer}/away` } });
    const unread = await send(uri, tokenFor({ sub: 'ann' }));
    expect([unread.status, unread.body.error]).toEqual([400, 'temporarily_unavailable']);
  });

  it('gets the members of RFC 6749 and no-store at every refusal, whatever was sent (§2.8)', async () => {
    hostile.behave({});
    const path = (await configure(hostile)).slice(HOME.length);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const failing = vi
      .spyOn(app.services.oidcSessions, 'claim')
      .mockRejectedValueOnce(new EventStoreUnavailable('away'));
    const raw = new URLSearchParams({ logout_token: tokenFor({ sub: 'ann' }) }).toString();
    const refused = await Promise.all([
      app.anonymous.send('POST', path, { raw, headers: form }),
      app.anonymous.send('POST', path, { raw: 'logout_token=x', headers: form }),
      app.anonymous.send('POST', path, { raw: `logout_token=${'x'.repeat(3_000_000)}`, headers: form }),
      app.anonymous.send('POST', path, { raw: '{}', headers: { 'content-type': 'application/json' } }),
      app.anonymous.send('POST', path, {}),
      app.anonymous.send('GET', path, {}),
    ]);
    failing.mockRestore();
    expect(refused.map(({ status }) => status)).toEqual([503, 400, 413, 415, 400, 405]);
    for (const { body, headers } of refused)
      expect([typeof body.error, typeof body.error_description, headers.get('cache-control')]).toEqual([
        'string',
        'string',
        'no-store',
      ]);
  });

  it('is read as often as the budget of its sender allows, and forged ones have no more keys fetched', async () => {
    const budget = 5;
    const limited = await startApp({ devMode: true, rateBudgets: { ...app.config.rateBudgets, sso: budget } });
    try {
      const uri = await configure(hostile, await limited.newTenant());
      const before = hostile.keysRead();
      const statuses: number[] = [];
      for (let sent = 0; sent < 3 * budget; sent += 1) {
        const forged = new URLSearchParams({ logout_token: tokenFor({ sub: 'ann' }, { key: otherKey() }) });
        const { status } = await limited.anonymous.send('POST', uri.slice(HOME.length), {
          raw: forged.toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
        statuses.push(status);
      }
      expect(new Set(statuses)).toEqual(new Set([400, 429]));
      expect(hostile.keysRead() - before).toBeLessThanOrEqual(statuses.filter((status) => status === 400).length);
    } finally {
      await limited.close();
    }
  });

  it('counts if a key that the provider publishes now has signed it, from the first token of a new key on', async () => {
    const uri = await configure(hostile);
    const sessions = [await signIn({ sid: 's-1' }), await signIn({ sid: 's-2' }), await signIn({ sid: 's-3' })];
    const later = otherKey();
    const byLaterKey = (sid: string) => tokenFor({ sid }, { key: later, header: { kid: 'k2' } });
    expect((await send(uri, byLaterKey('s-1'))).status).toBe(400);
    hostile.behave({ keys: [hostile.key, later] });
    expect((await send(uri, byLaterKey('s-1'))).status).toBe(200);
    expect((await send(uri, tokenFor({ sid: 's-2' }))).status).toBe(200);
    hostile.behave({ keys: [later] });
    const byWithdrawnKey = await send(uri, tokenFor({ sid: 's-3' }));
    expect([byWithdrawnKey.status, await Promise.all(sessions.map(isLive))]).toEqual([400, [false, false, true]]);
    expect((await send(uri, tokenFor({ sid: 's-3' }, { key: later }))).status).toBe(200);
    expect(await isLive(sessions[2]!)).toBe(false);
  });

  it('at one process ends the session at every other one', async () => {
    const uri = await configure(hostile);
    const other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
    try {
      const { accessToken } = await signIn();
      const there = httpClient(other.addresses.http, { authorization: `Bearer ${accessToken}` });
      const meThere = async () => (await there.get('/api/v1/admin/me')).status;
      expect([await isLive({ accessToken }), await meThere()]).toEqual([true, 200]);
      const answer = await httpClient(other.addresses.http, {}).send('POST', uri.slice(HOME.length), {
        raw: new URLSearchParams({ logout_token: tokenFor({ sid: 's-1' }) }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      // The process that took the token has ended the session before it responds; the other one follows the log.
      expect([answer.status, await meThere()]).toEqual([200, 401]);
      await expect.poll(() => isLive({ accessToken }), { timeout: 30_000, interval: 5 }).toBe(false);
    } finally {
      await other.stop();
    }
  });

  it('ends the sessions of an administrator of an organization', async () => {
    const north = await newOrganization(app, undefined, HOME);
    const { issuer: issuerUrl, clientId } = hostile;
    const config = await north.write('POST', '/api/v1/org/sso-configs', { issuerUrl, clientId, clientSecret: 'hush' });
    const uri = config.body.backchannelLogoutUri as string;
    expect(uri).toBe(`${HOME}${ORG}/backchannel-logout?organization_id=${north.organizationId}`);
    hostile.behave({ claims: { email: north.email, sid: 's-1' } });
    const cameBack = async () => {
      const { cookie, state, nonce: asked } = await startsSignIn(app.anonymous, `${ORG}/login?slug=${north.slug}`);
      nonce = asked;
      const back = await returnsFromProvider(app.anonymous, `${ORG}/callback`, { code: 'c', state }, cookie);
      const code = new URL(back.headers.get('location')!, HOME).searchParams.get('org_sso_code')!;
      return () => app.anonymous.post(`${ORG}/exchange`, { code }, { headers: { cookie: cookiesOf(back) } });
    };
    const { body } = await (await cameBack())();
    const pending = await cameBack();
    const live = () => app.as(body.accessToken).get('/api/v1/org/sso-configs');
    expect((await live()).status).toBe(200);
    expect((await send(uri, tokenFor({ sub: 'ann' }, { claims: { aud: 'another' } }))).status).toBe(400);
    expect((await live()).status).toBe(200);
    expect((await send(uri, tokenFor({ sub: 'ann', sid: 's-1' }))).status).toBe(200);
    expect([(await live()).status, (await pending()).status]).toEqual([401, 401]);
    const remember = app.services.oidcSessions.remember.bind(app.services.oidcSessions);
    const exchange = await cameBack();
    vi.spyOn(app.services.oidcSessions, 'remember').mockImplementationOnce(async (...session) => {
      await remember(...session);
      expect((await send(uri, tokenFor({ sub: 'ann', sid: 's-1' }))).status).toBe(200);
    });
    expect((await exchange()).status).toBe(401);
    vi.restoreAllMocks();
  });
});
