import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { inflateRawSync } from 'node:zlib';
import { refuseSsoSignIn } from '../../../../commands/sso/refuse-sso-sign-in.ts';
import { temporarilyUnavailable } from '../../../../src/platform/kernel/failure.ts';
import { redirectAddress } from '../../../../src/contexts/sso/saml/redirect-binding.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { startSamlIdentityProvider, type SamlIdentityProvider } from '../../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';

const HOME = 'https://castellan.example';
/** The assertion names no session at the provider. */
const NO_INDEX = 'none';
const CALLBACK = '/api/v1/auth/saml/callback';

describe('a logout at a SAML provider, before a sign-in has become a session', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let provider: SamlIdentityProvider;
  beforeAll(async () => {
    [app, provider] = await Promise.all([startApp({ devMode: true }), startSamlIdentityProvider()]);
    tenant = await app.newTenant();
    const { entityId, ssoUrl, pair } = provider;
    const metadata = samlMetadata({ entityId, ssoUrl, sloUrl: 'https://idp.example/slo', pairs: [pair] });
    expect((await tenant.admin.post('/api/v1/admin/sso-configs/import', { metadata })).status).toBe(201);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    await provider?.close();
    await app?.close();
  });

  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');

  /** The form that the provider gives to a browser, not yet posted. */
  const authenticated = async (
    over: Record<string, string> = { return_to: 'login', challenge },
    index = '',
    issuer = provider.entityId,
  ) => {
    provider.signsIn(tenant.email);
    const query = new URLSearchParams({ tenant_id: tenant.tenantId, ...over });
    const { headers } = await app.anonymous.get(`/api/v1/auth/saml/login?${query.toString()}`);
    const address = headers.get('location')!;
    const { samlResponse, relayState } = await provider.visit(address);
    if (index === '') return { samlResponse, relayState };
    const request = Buffer.from(new URL(address).searchParams.get('SAMLRequest')!, 'base64');
    const [, inResponseTo] = / ID="([^"]+)"/.exec(inflateRawSync(request).toString())!;
    const xml = await provider.respond({
      email: tenant.email,
      acsUrl: HOME + CALLBACK,
      audience: `${HOME}/api/v1/auth/saml/metadata?tenant_id=${tenant.tenantId}`,
      inResponseTo: inResponseTo!,
      issuer,
      ...(index === NO_INDEX ? {} : { sessionIndex: index }),
    });
    return { samlResponse: Buffer.from(xml).toString('base64'), relayState };
  };
  type Form = Awaited<ReturnType<typeof authenticated>>;
  const indexIn = ({ samlResponse }: Form) =>
    / SessionIndex="([^"]+)"/.exec(Buffer.from(samlResponse, 'base64').toString())![1]!;
  const post = ({ samlResponse, relayState }: Form) =>
    app.anonymous.send('POST', CALLBACK, {
      raw: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const parametersOf = async (posted: ReturnType<typeof post>) =>
    new URL((await posted).headers.get('location')!, HOME).searchParams;
  const codeOf = async (form: Form) => (await parametersOf(post(form))).get('sso_code');
  const exchange = (code: string | null) => app.anonymous.post('/api/v1/auth/sso/exchange', { code, verifier });
  const logoutAddress = (name: string, indexes: readonly string[] = [], at = new Date().toISOString()) => {
    const destination = `${HOME}/api/v1/auth/saml/logout?tenant_id=${tenant.tenantId}`;
    const xml =
      `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${randomBytes(16).toString('hex')}" Version="2.0" IssueInstant="${at}" Destination="${destination}">` +
      `<saml:Issuer>${provider.entityId}</saml:Issuer><saml:NameID>${name}</saml:NameID>` +
      indexes.map((index) => `<samlp:SessionIndex>${index}</samlp:SessionIndex>`).join('') +
      `</samlp:LogoutRequest>`;
    const signingKey = provider.pair.privateKeyPem;
    const sent = redirectAddress(destination, { parameter: 'SAMLRequest', xml, relayState: undefined, signingKey });
    return sent.slice(HOME.length);
  };
  const logsOut = async (...named: Parameters<typeof logoutAddress>) => {
    const { headers } = await app.anonymous.get(logoutAddress(...named));
    const response = new URL(headers.get('location')!).searchParams.get('SAMLResponse')!;
    expect(inflateRawSync(Buffer.from(response, 'base64')).toString()).toContain('status:Success');
  };
  const begun = async () => {
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/me/sessions');
    return (body.sessions as object[]).length;
  };

  const refusals = async () => {
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused');
    return body.auditLogs.map(
      ({ details: { protocol, detail } }: { details: Record<string, string> }) => `${protocol}: ${detail}`,
    ) as string[];
  };

  it('of the person ends the code of a finished callback', async () => {
    const code = await codeOf(await authenticated());
    await logsOut(tenant.email);
    expect(await refusals()).toEqual(['saml: logged_out']);
    const { status, body } = await exchange(code);
    expect([status, body.error_code ?? body.code]).toEqual([401, 'invalid_exchange_code']);
    expect(await refusals()).toEqual(['saml: unknown or used', 'saml: logged_out']);
  });

  it('that comes while the code is issued is in the audit log once, with the person', async () => {
    const before = (await refusals()).length;
    const { samlSessions } = app.services;
    const isLoggedOut = samlSessions.isLoggedOut.bind(samlSessions);
    vi.spyOn(samlSessions, 'isLoggedOut').mockImplementationOnce(async (...asked) => {
      await logsOut(tenant.email);
      return isLoggedOut(...asked);
    });
    expect((await parametersOf(post(await authenticated()))).get('sso_error')).toBe('invalid_assertion');
    expect((await refusals()).slice(0, -before)).toEqual(['saml: logged_out']);
  });

  it('whose entry cannot be written ends the code, and counts again', async () => {
    const before = (await refusals()).length;
    const code = await codeOf(await authenticated());
    const { executor } = app.services;
    const execute = executor.execute.bind(executor);
    let lost = 0;
    vi.spyOn(executor, 'execute').mockImplementation(((...call: Parameters<typeof execute>) =>
      (call[0] as unknown) === refuseSsoSignIn && (lost += 1) === 1
        ? Promise.resolve(temporarilyUnavailable())
        : execute(...call)) as never);
    const sent = logoutAddress(tenant.email);
    expect((await app.anonymous.get(sent)).status).toBe(503);
    expect((await exchange(code)).status).toBe(401);
    expect((await app.anonymous.get(sent)).status).toBe(302);
    expect((await refusals()).slice(0, -before)).toEqual(['saml: logged_out', 'saml: unknown or used']);
  });

  it('of the session ends its code, and none of another session or person', async () => {
    const [one, other] = [await authenticated(), await authenticated()];
    const codes = [await codeOf(one), await codeOf(other)];
    await logsOut(tenant.email, [indexIn(one)]);
    await logsOut('somebody@else.example');
    expect((await exchange(codes[0]!)).status).toBe(401);
    expect((await exchange(codes[1]!)).status).toBe(200);
  });

  it('of a session ends also what its assertion gave no session index', async () => {
    const form = await authenticated(undefined, NO_INDEX);
    expect(Buffer.from(form.samlResponse, 'base64').toString()).not.toContain('SessionIndex');
    const [late, code] = [await authenticated({}, NO_INDEX), await codeOf(form)];
    const { body } = await post(await authenticated({}, NO_INDEX));
    await logsOut(tenant.email, ['_some', '_other']);
    expect((await exchange(code)).status).toBe(401);
    expect((await app.as(body.accessToken).get('/api/v1/admin/me')).status).toBe(401);
    expect((await post(late)).status).toBe(401);
  });

  it.each(['before', 'after'])(
    'that comes during the exchange, %s the session is remembered, ends it',
    async (when) => {
      const code = await codeOf(await authenticated());
      const remember = app.services.samlSessions.remember.bind(app.services.samlSessions);
      vi.spyOn(app.services.samlSessions, 'remember').mockImplementationOnce(async (session, sealed) => {
        if (when === 'before') await logsOut(tenant.email);
        await remember(session, sealed);
        if (when === 'after') await logsOut(tenant.email);
      });
      expect((await exchange(code)).status).toBe(401);
      // Only that of the password is left.
      expect(await begun()).toBe(1);
    },
  );

  it.each(['before', 'after'])('that comes during a callback without a page, %s the same, ends it', async (when) => {
    const form = await authenticated({});
    const remember = app.services.samlSessions.remember.bind(app.services.samlSessions);
    vi.spyOn(app.services.samlSessions, 'remember').mockImplementationOnce(async (session, sealed) => {
      if (when === 'before') await logsOut(tenant.email);
      await remember(session, sealed);
      if (when === 'after') await logsOut(tenant.email);
    });
    expect((await post(form)).status).toBe(401);
    // Only that of the password is left.
    expect(await begun()).toBe(1);
  });

  it('holds for an assertion that was issued before and comes later (Core §3.7.3.1)', async () => {
    const [one, other] = [await authenticated(), await authenticated()];
    await logsOut(tenant.email, [indexIn(one)]);
    expect((await parametersOf(post(one))).get('sso_error')).toBe('invalid_assertion');
    expect((await exchange(await codeOf(other))).status).toBe(200);
    const third = await authenticated({});
    await logsOut(tenant.email);
    expect((await post(third)).status).toBe(401);
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused');
    expect(body.auditLogs.map(({ details }: { details: { detail: string } }) => details.detail)).toEqual(
      expect.arrayContaining(['logged_out']),
    );
    // A new sign-in at the provider counts.
    expect((await exchange(await codeOf(await authenticated()))).status).toBe(200);
  });

  it.each([0, 5, 10, 20, 40, 80, 160])(
    'that comes %i ms after the response was posted ends what the response began',
    async (delay) => {
      const [plain, paged] = [await authenticated({}), await authenticated()];
      const posted = [post(plain), post(paged)] as const;
      await new Promise((resolve) => setTimeout(resolve, delay));
      await logsOut(tenant.email);
      const [{ body }, back] = await Promise.all(posted);
      const token = body?.accessToken as string | undefined;
      if (token !== undefined) expect((await app.as(token).get('/api/v1/admin/me')).status).toBe(401);
      const code = new URL(back.headers.get('location')!, HOME).searchParams.get('sso_code');
      if (code !== null) expect((await exchange(code)).status).toBe(401);
    },
  );

  it('holds for an assertion of the same second, if the provider writes no fractions', async () => {
    const form = await authenticated({});
    const xml = Buffer.from(form.samlResponse, 'base64').toString();
    const issued = /<saml:Assertion [^>]*IssueInstant="([^"]+)"/.exec(xml)![1]!;
    expect(issued).toMatch(/\.\d{3}Z$/);
    await logsOut(tenant.email, [], issued.replace(/\.\d+Z$/, 'Z'));
    expect((await post(form)).status).toBe(401);
    // Of the same second are those of the next test, too.
    await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
  });

  it('holds for the provider alone, not for one that the configuration gets later', async () => {
    const soon = new Date(Date.now() + 100_000).toISOString();
    const config = `/api/v1/admin/sso-configs/${(await tenant.admin.get('/api/v1/admin/sso-configs')).body.configs[0].id}`;
    await logsOut(tenant.email, ['_later'], soon);
    expect((await post(await authenticated({}, '_later'))).status).toBe(401);
    const other = 'urn:example:other';
    expect((await tenant.admin.put(config, { idpEntityId: other })).status).toBe(200);
    expect((await post(await authenticated({}, '_later', other))).status).toBe(200);
    expect((await tenant.admin.put(config, { idpEntityId: provider.entityId })).status).toBe(200);
  });

  it('that begins here ends a code of the same session at the provider, and no other one', async () => {
    const { body } = await post(await authenticated({}, '_shared'));
    const codes = [
      await codeOf(await authenticated(undefined, '_shared')),
      await codeOf(await authenticated(undefined, '_other')),
    ];
    const total = async () =>
      (await tenant.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body.total as number;
    await app.settled();
    const before = await total();
    const { status } = await app.as(body.accessToken).post('/api/v1/auth/sso/logout');
    expect(status).toBe(200);
    expect((await refusals())[0]).toBe('saml: logged_out');
    expect(await total()).toBe(before + 1);
    expect((await exchange(codes[0]!)).status).toBe(401);
    expect((await exchange(codes[1]!)).status).toBe(200);
  });

  it('leaves a code that is known to be of SAML, also beside a provider of OpenID Connect', async () => {
    const oidc = { name: 'Other', issuerUrl: 'https://idp.example', clientId: 'c', isEnabled: true };
    expect((await tenant.admin.post('/api/v1/admin/sso-configs', oidc)).status).toBe(201);
    const ended = await codeOf(await authenticated());
    await logsOut(tenant.email);
    expect((await exchange(ended)).status).toBe(401);
    const used = await codeOf(await authenticated());
    expect((await exchange(used)).status).toBe(200);
    expect((await exchange(used)).status).toBe(401);
    const unknown = 'saml: unknown or used';
    expect((await refusals()).slice(0, 3)).toEqual([unknown, unknown, 'saml: logged_out']);
  });
});
