import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestResponse } from '../../../dsl/app.ts';
import { startHostileOpenIdProvider, type Misbehaviour } from '../../../dsl/hostile-openid-provider.ts';
import { returnsFromProvider, startsSignIn } from '../../../dsl/sso-browser.ts';
import { logsOutAtProvider, ssoOwner, startsOnPage, type SsoOwner } from '../../../dsl/sso-owner.ts';
import { hostileSso } from '../../../dsl/hostile-sso.ts';

const sso = hostileSso();
beforeEach(() => sso.provider.behave({}));
afterEach(() => vi.restoreAllMocks());

describe.each(['tenant', 'organization'] as const)('a callback of a %s', (kind) => {
  let owner: SsoOwner;
  beforeEach(async () => {
    owner = await ssoOwner(sso.app, sso.provider, kind);
  });

  const start = async (query = '') => {
    const started = await startsSignIn(sso.app.anonymous, owner.loginPath + query);
    sso.nonce = started.nonce;
    return () =>
      returnsFromProvider(
        sso.app.anonymous,
        `${owner.routes}/callback`,
        { code: 'c', state: started.state },
        started.cookie,
      );
  };
  /** The callback, during whose call of a path something happens. */
  const overtaken = async (path: string, meanwhile: () => Promise<unknown>, over: Misbehaviour = {}) => {
    const claims = { email: owner.email, sid: 's-1', email_verified: path === '/userinfo' ? undefined : true };
    const userinfo = { status: 200, claims: { email: owner.email, email_verified: true } };
    let calls = 0;
    const waits = async (called: string) => {
      if (called === path && (calls += 1) === 1) await meanwhile();
    };
    const cameBack = await start();
    sso.provider.behave({ userinfo, ...over, claims: { ...claims, ...over.claims }, waits });
    const answer = await cameBack();
    expect(calls).toBeGreaterThan(0);
    return answer;
  };
  const logsOut = (about: { sub?: string; sid?: string }, claims: Record<string, unknown> = {}) =>
    logsOutAtProvider(sso.app, owner, sso.provider, about, claims);
  const refusedPerson = async () => {
    const { rows } = await sso.app.services.database.owner.query<{ data: { subjectId: string | null } }>(
      `select data from events where type = 'SsoSignInRefused' order by position desc limit 1`,
    );
    return rows[0]?.data.subjectId;
  };
  const isIn = ({ status, headers }: TestResponse) =>
    kind === 'tenant' ? status === 200 : headers.get('location')!.includes('org_sso_code=');
  const now = () => Math.floor(Date.now() / 1_000);

  it.each([
    ['/userinfo', { sid: 's-1' }],
    ['/userinfo', { sub: 'ann' }],
    ['/jwks', { sid: 's-1' }],
    ['/jwks', { sub: 'ann', sid: 's-1' }],
  ])('is refused if the provider logs the person out while %s is awaited: %j', async (path, about) => {
    expect(isIn(await overtaken(path, () => logsOut(about)))).toBe(false);
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out']);
    expect(isIn(await overtaken('/jwks', async () => undefined))).toBe(true);
  });

  it.each(['before', 'after'])('is in the audit log once if a logout comes %s its code is looked for', async (when) => {
    sso.provider.behave({ claims: { email: owner.email, sid: 's-1' } });
    const { oidcSessions } = sso.app.services;
    const isLoggedOut = oidcSessions.isLoggedOut.bind(oidcSessions);
    vi.spyOn(oidcSessions, 'isLoggedOut').mockImplementationOnce(async (...asked) => {
      if (when === 'before') await logsOut({ sub: 'ann' });
      const isOut = await isLoggedOut(...asked);
      if (when === 'after') await logsOut({ sub: 'ann' });
      return isOut || when === 'after';
    });
    const { callback, nonce } = await startsOnPage(sso.app, owner);
    sso.nonce = nonce;
    expect((await callback()).toString()).toMatch(/sso_error=invalid_assertion/);
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out']);
    expect(await refusedPerson()).toEqual(expect.any(String));
  });

  it('without a page that a logout ends names the person in the audit log', async () => {
    expect(isIn(await overtaken('/jwks', () => logsOut({ sub: 'ann' })))).toBe(false);
    expect(await refusedPerson()).toEqual(expect.any(String));
    if (kind === 'organization') return;
    const { remember } = sso.app.services.oidcSessions;
    vi.spyOn(sso.app.services.oidcSessions, 'remember').mockImplementationOnce(async function (
      this: never,
      ...session
    ) {
      await logsOut({ sub: 'ann' });
      return remember.apply(this, session);
    });
    expect(isIn(await overtaken('/jwks', async () => undefined))).toBe(false);
    expect(await refusedPerson()).toEqual(expect.any(String));
  });

  it('without a session of the provider is refused if the person of a session is logged out', async () => {
    const nameless = { claims: { sid: undefined } };
    expect(isIn(await overtaken('/jwks', () => logsOut({ sub: 'ann', sid: 's-9' }), nameless))).toBe(false);
    expect(isIn(await overtaken('/jwks', () => logsOut({ sid: 's-9' }), nameless))).toBe(true);
  });

  it('goes on if somebody else or another session is logged out', async () => {
    expect(isIn(await overtaken('/userinfo', () => logsOut({ sid: 's-2' })))).toBe(true);
    expect(isIn(await overtaken('/userinfo', () => logsOut({ sub: 'bob', sid: 's-1' })))).toBe(true);
  });

  it('is refused if its ID token is older than a logout that came before it', async () => {
    await logsOut({ sub: 'ann' });
    expect(isIn(await overtaken('/jwks', async () => undefined, { claims: { iat: now() - 5 } }))).toBe(false);
    expect(isIn(await overtaken('/jwks', async () => undefined, { claims: { iat: now() + 1 } }))).toBe(true);
  });

  it('goes on if another issuer, which the configuration had before, logged out the same subject', async () => {
    await logsOut({ sub: 'ann' }, { iat: now() + 150 });
    expect(isIn(await overtaken('/jwks', async () => undefined))).toBe(false);
    const second = await startHostileOpenIdProvider('castellan', () => sso.nonce);
    try {
      await owner.change({ issuerUrl: second.issuer, clientSecret: 'hush' });
      second.behave({ claims: { email: owner.email, sid: 's-1' } });
      expect(isIn(await (await start())())).toBe(true);
    } finally {
      await second.close();
    }
  });

  const AWAY = { status: 503 };
  it.each([
    ['/token', 'during the first', { sub: 'ann' }, ''],
    ['/token', 'during the first', { sid: 's-1' }, '&reauthenticate=true'],
    ['/jwks', 'during the first', { sub: 'ann' }, ''],
    ['/userinfo', 'during the first', { sub: 'ann', sid: 's-1' }, ''],
    ['/userinfo', 'between the two', { sid: 's-1' }, '&reauthenticate=true'],
    ['/token', 'between the two', { sub: 'ann' }, ''],
  ])('that comes back after %s was away is refused if a logout came %s: %j%s', async (path, when, about, query) => {
    const cameBack = await start(query);
    const claims = { email: owner.email, sid: 's-1', email_verified: undefined, auth_time: now() };
    const good = { claims, userinfo: { status: 200, claims: { email: owner.email, email_verified: true } } };
    const away = { ...good, raw: { [path]: AWAY } };
    const waits = async (called: string) => {
      if (called !== path || when !== 'during the first') return;
      // The keys that the logout needs are there.
      sso.provider.behave(good);
      await logsOut(about);
      sso.provider.behave(away);
    };
    sso.provider.behave({ ...away, waits });
    expect(isIn(await cameBack())).toBe(false);
    sso.provider.behave(good);
    if (when === 'between the two') await logsOut(about);
    expect(isIn(await cameBack())).toBe(false);
    expect(await owner.refusals()).toEqual(['invalid_assertion: logged_out', expect.stringMatching(/: unreachable$/)]);
  });

  it('that comes back counts if somebody else was logged out, or the person before its first time', async () => {
    await logsOut({ sub: 'ann' });
    const cameBack = await start();
    const good = { claims: { email: owner.email, sid: 's-1', iat: now() + 1 } };
    sso.provider.behave({
      ...good,
      waits: (path) => (path === '/token' ? logsOut({ sub: 'bob' }) : undefined),
      raw: { '/token': AWAY },
    });
    for (let times = 0; times < 2; times += 1) expect(isIn(await cameBack())).toBe(false);
    sso.provider.behave(good);
    expect(isIn(await cameBack())).toBe(true);
  });

  const changes: Record<string, () => Promise<unknown>> = {
    disabled: () => owner.change({ isEnabled: false }),
    deleted: () => owner.remove(),
    'given another issuer': () => owner.change({ issuerUrl: 'https://other.example', clientSecret: 'hush' }),
    'given another client': () => owner.change({ clientId: 'other' }),
    'given other domains': () => owner.change({ emailDomains: ['other.example'] }),
  };
  it.each(Object.entries(changes))('is refused if the configuration is %s meanwhile', async (_what, change) => {
    const answer = await overtaken('/userinfo', change);
    expect([isIn(answer), answer.headers.get('location') ?? answer.body.error]).toEqual([
      false,
      expect.stringMatching(/sso_not_configured$/),
    ]);
    expect(await owner.refusals()).toEqual(['sso_not_configured: changed during the sign-in']);
  });

  it('goes on if the configuration gets another name meanwhile', async () => {
    expect(isIn(await overtaken('/userinfo', () => owner.change({ name: 'Other' })))).toBe(true);
  });

  it('of another issuer than the present one sends it no code', async () => {
    const cameBack = await start();
    const second = await startHostileOpenIdProvider('castellan', () => sso.nonce);
    try {
      second.behave({ claims: { email: owner.email } });
      await owner.change({ issuerUrl: second.issuer, clientSecret: 'hush' });
      expect(isIn(await cameBack())).toBe(false);
      expect(second.redeemed).toEqual([]);
      expect(await owner.refusals()).toEqual(['sso_not_configured: changed during the sign-in']);
    } finally {
      await second.close();
    }
  });
});
