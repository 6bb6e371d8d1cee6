import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SamlRefused } from '../../../../src/contexts/sso/saml/refused.ts';
import { useOnce } from '../../../../src/contexts/sso/saml/used-messages.ts';
import { newAuthority } from '../../../../src/platform/pki/new-authority.ts';
import { startApp, type TestResponse, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  newSigningPair,
  startSamlIdentityProvider,
  type SamlIdentityProvider,
} from '../../../dsl/saml-identity-provider.ts';
import { navigate, type Page } from '../../../dsl/navigating.ts';
import { soundShapes } from '../../../dsl/saml-documents.ts';
import { attackCorpus } from './attack-corpus.ts';

const CALLBACK = '/api/v1/auth/saml/callback';
const ACS = `https://castellan.example${CALLBACK}`;

interface Posted {
  readonly samlResponse: string;
  readonly relayState: string;
}

/** Milliseconds for many documents one after another, on a busy machine. */
const MANY = 180_000;

describe('the SAML sign-in of a tenant', () => {
  let app: TestApp;
  let acme: TestTenant;
  let globex: TestTenant;
  let provider: SamlIdentityProvider;
  const stranger = newSigningPair('somebody else');
  const ours = newSigningPair('castellan');
  beforeAll(async () => {
    [app, provider] = await Promise.all([startApp({ devMode: true }), startSamlIdentityProvider()]);
    [acme, globex] = await Promise.all([app.newTenant(), app.newTenant()]);
    await configure(acme);
  });
  afterAll(async () => {
    await provider.close();
    await app.close();
  });

  async function configure(tenant: TestTenant, over: object = {}): Promise<string> {
    const body = {
      protocol: 'saml',
      idpEntityId: provider.entityId,
      idpSsoUrl: provider.ssoUrl,
      idpCertificate: provider.pair.certificatePem,
      ...over,
    };
    const { status, text, body: config } = await tenant.admin.post('/api/v1/admin/sso-configs', body);
    expect([status, text.includes('PRIVATE')]).toEqual([201, false]);
    return config.id as string;
  }
  const start = (tenant: TestTenant, query: Record<string, string> = {}) =>
    app.anonymous.get(
      `/api/v1/auth/saml/login?${new URLSearchParams({ tenant_id: tenant.tenantId, ...query }).toString()}`,
    );
  const post = ({ samlResponse, relayState }: Posted): Promise<TestResponse> =>
    app.anonymous.send('POST', CALLBACK, {
      raw: new URLSearchParams({ SAMLResponse: samlResponse, RelayState: relayState }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  /** From here to the provider, which authenticates this person. */
  async function comeBackAs(tenant: TestTenant, email: string, query: Record<string, string> = {}): Promise<Posted> {
    provider.signsIn(email);
    const { status, headers } = await start(tenant, query);
    expect(status).toBe(302);
    const { action, ...posted } = await provider.visit(headers.get('location')!);
    expect(action).toBe(ACS);
    return posted;
  }
  const requestIdIn = (samlResponse: string) =>
    / InResponseTo="([^"]+)"/.exec(Buffer.from(samlResponse, 'base64').toString())![1]!;
  const audienceOf = (tenant: TestTenant) =>
    `https://castellan.example/api/v1/auth/saml/metadata?tenant_id=${tenant.tenantId}`;
  /** As a browser posts it. */
  const submit = ({ samlResponse, relayState }: Posted): Promise<Page> =>
    navigate(app.url + CALLBACK, { SAMLResponse: samlResponse, RelayState: relayState });
  async function refusalsOf(tenant: TestTenant): Promise<{ details: { reason: string; detail: string | null } }[]> {
    await app.settled();
    const pageOf = async (page: number) =>
      (await tenant.admin.get(`/api/v1/admin/audit-log?action=sso.sign_in_refused&page_size=100&page=${page}`)).body
        .auditLogs;
    return [...(await pageOf(1)), ...(await pageOf(2))];
  }

  it('starts here, goes to the provider and ends with working tokens', async () => {
    const { status, body } = await post(await comeBackAs(acme, acme.email.toUpperCase()));
    expect([status, body]).toEqual([
      200,
      {
        accessToken: expect.any(String),
        refreshToken: expect.any(String),
        expiresAt: expect.any(String),
        user: { id: acme.adminId, email: acme.email, displayName: 'Owner', roleType: 'super_admin' },
      },
    ]);
    expect((await app.as(body.accessToken).get('/api/v1/admin/me')).body.id).toBe(acme.adminId);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: body.refreshToken })).status).toBe(200);
  });

  it('returns a re-authentication token if the person was asked to authenticate again, and only then', async () => {
    const { status, body } = await post(await comeBackAs(acme, acme.email, { reauthenticate: 'true' }));
    expect([status, body.reAuthToken]).toEqual([200, expect.any(String)]);
    const setup = (headers: Record<string, string>) =>
      app.as(body.accessToken, headers).post('/api/v1/admin/mfa/setup');
    expect([(await setup({})).status, (await setup({ 'x-reauth-token': body.reAuthToken })).status]).toEqual([
      403, 200,
    ]);
    expect((await post(await comeBackAs(acme, acme.email))).body.reAuthToken).toBeUndefined();
  });

  it('accepts one of any number of simultaneous posts of one response', async () => {
    const posted = await comeBackAs(acme, acme.email);
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => post(posted)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 401, 401, 401, 401]);
    expect((await post(posted)).body).toMatchObject({ error: 'single sign-on failed: invalid_state' });
  });

  it(
    'rejects every attack of the corpus, keeps the request open for the right response, and audits each one',
    async () => {
      const corpus = attackCorpus(provider, stranger);
      const audience = audienceOf(acme);
      // A request looks at a few wrong responses only.
      for (const begin of corpus.keys()) {
        if (begin % 6 !== 0) continue;
        const { samlResponse, relayState } = await comeBackAs(acme, acme.email);
        const inResponseTo = requestIdIn(samlResponse);
        for (const { name, make } of corpus.slice(begin, begin + 6)) {
          const attack = await make({ email: acme.email, acsUrl: ACS, audience, inResponseTo });
          const { status, text } = await post({ samlResponse: attack, relayState });
          // Responses that do not fit into a form are rejected by the listener.
          expect([name, status]).toEqual([name, attack.length > 300_000 ? 413 : 401]);
          expect([name, text.includes('Token')]).toEqual([name, false]);
        }
        expect((await post({ samlResponse, relayState })).status).toBe(200);
      }
      const seen = corpus.filter(({ name }) => name !== 'more than the limit');
      const written = (await refusalsOf(acme)).slice(0, seen.length).toReversed();
      expect(written.map(({ details }) => details.detail)).toEqual(seen.map(({ reason }) => reason));
    },
    MANY,
  );

  it('looks at a few wrong responses to a request, then at none', async () => {
    const { samlResponse, relayState } = await comeBackAs(acme, acme.email);
    for (let wrong = 0; wrong < 8; wrong += 1)
      expect((await post({ samlResponse: 'PFI+', relayState })).status).toBe(401);
    expect((await post({ samlResponse, relayState })).body).toMatchObject({
      error: 'single sign-on failed: invalid_state',
    });
  });

  it('starts a request of its own for a sign-in that began at the provider, and never accepts that response', async () => {
    const { pair, entityId } = provider;
    const said = { pair, entityId, acsUrl: ACS, audience: audienceOf(acme), requestId: '_none', email: acme.email };
    const unsolicited = (over: object = {}) =>
      Buffer.from(soundShapes['no KeyInfo']!({ ...said, ...over }).replaceAll(/ InResponseTo="[^"]*"/g, '')).toString(
        'base64',
      );
    for (const relayState of ['', 'https://portal.example/start']) {
      const { status, headers, text } = await submit({ samlResponse: unsolicited(), relayState });
      expect([status, headers.get('location'), text]).toEqual([
        303,
        `/login?tenant_id=${acme.tenantId}&sso_start=saml`,
        '',
      ]);
    }
    // Of a tenant without this provider, of nobody, or nothing at all.
    for (const samlResponse of [
      unsolicited({ audience: audienceOf(globex) }),
      unsolicited({ entityId: 'urn:example:other' }),
      unsolicited({ audience: audienceOf(acme).replace('castellan.example', 'evil.example') }),
      'PFI+',
    ]) {
      const { status, headers } = await submit({ samlResponse, relayState: '' });
      expect([status, headers.get('location')]).toEqual([303, '/login?sso_error=invalid_state']);
    }
    expect((await post({ samlResponse: unsolicited(), relayState: '' })).status).toBe(401);
  });

  it('shows browsers a page instead of JSON, however a sign-in began', async () => {
    const late = await submit({ samlResponse: 'PFI+', relayState: `j${randomBytes(60).toString('base64url')}` });
    expect([late.status, late.headers.get('location')]).toEqual([303, '/login?sso_error=invalid_state']);
    const unknown = await submit(await comeBackAs(acme, 'nobody@t1.example'));
    expect(unknown.headers.get('location')).toBe(`/login?tenant_id=${acme.tenantId}&sso_error=account_not_found`);
    const missing = await navigate(`${app.url}/api/v1/auth/saml/login`);
    expect([missing.status, missing.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    const limited = await startApp({ devMode: true, rateBudgets: { sso: 1 } });
    const hurried = () => navigate(`${limited.url}/api/v1/auth/saml/login?tenant_id=${randomUUID()}`);
    await hurried();
    const refused = await hurried();
    expect([refused.status, refused.headers.get('content-type'), refused.headers.has('retry-after')]).toEqual([
      429,
      'text/html; charset=utf-8',
      true,
    ]);
    await limited.close();
  });

  it(
    'admits an office that comes at once among strangers, and a person with 800 groups',
    async () => {
      const posts: { posted: Posted; status: number }[] = [];
      for (let person = 0; person < 40; person += 1) {
        const posted = await comeBackAs(acme, acme.email);
        posts.push({ posted, status: 200 });
        if (person % 2 > 0) continue;
        // A stranger may begin a sign-in too. What comes back for it has the signature of nobody.
        const { samlResponse, relayState } = await comeBackAs(acme, acme.email);
        const forged = Buffer.from(samlResponse, 'base64').toString().replaceAll('SignatureValue>', '$&AAAA');
        posts.push({ posted: { samlResponse: Buffer.from(forged).toString('base64'), relayState }, status: 401 });
      }
      const statuses = await Promise.all(posts.map(async ({ posted }) => (await post(posted)).status));
      expect(statuses).toEqual(posts.map(({ status }) => status));
      const { samlResponse, relayState } = await comeBackAs(acme, acme.email);
      const { pair, entityId } = provider;
      const large = soundShapes['800 groups']!({
        pair,
        entityId,
        acsUrl: ACS,
        audience: audienceOf(acme),
        requestId: requestIdIn(samlResponse),
        email: acme.email,
      });
      expect((await post({ samlResponse: Buffer.from(large).toString('base64'), relayState })).status).toBe(200);
    },
    MANY,
  );

  it('rejects responses without a request, and those to a request of another tenant', async () => {
    const { samlResponse, relayState } = await comeBackAs(acme, acme.email);
    for (const wrong of ['', 'j', relayState.slice(0, -1), `j${randomBytes(60).toString('base64url')}`]) {
      expect((await post({ samlResponse, relayState: wrong })).body).toMatchObject({
        error: 'single sign-on failed: invalid_state',
      });
    }
    const other = await comeBackAs(acme, acme.email);
    expect((await post({ samlResponse, relayState: other.relayState })).body).toMatchObject({
      error: 'single sign-on failed: invalid_state',
    });
    await configure(globex);
    const foreign = await comeBackAs(globex, globex.email);
    expect((await post({ samlResponse, relayState: foreign.relayState })).status).toBe(401);
    expect((await post(foreign)).body.user.id).toBe(globex.adminId);
  });

  it('stores an assertion by issuer and id until it has expired, once for any number of concurrent uses', async () => {
    const assertion = {
      kind: 'assertion' as const,
      tenantId: acme.tenantId,
      configId: randomUUID(),
      issuer: provider.entityId,
      id: '_a',
      endsAt: Date.now() + 60_000,
    };
    const use = (over: object = {}) =>
      useOnce(app.services.database.service, { ...assertion, ...over }).then(
        () => 'taken',
        (error: SamlRefused) => error.reason,
      );
    expect((await Promise.all([use(), use(), use()])).sort()).toEqual(['replayed', 'replayed', 'taken']);
    expect(
      await Promise.all([use({ id: '_b' }), use({ issuer: 'another' }), use({ tenantId: globex.tenantId })]),
    ).toEqual(['taken', 'taken', 'taken']);
  });

  it('admits existing admins only: none is created, and none of another tenant is admitted', async () => {
    for (const unknown of [globex.email, `nobody@${randomUUID()}.example`]) {
      expect((await post(await comeBackAs(acme, unknown))).body).toMatchObject({
        error: 'single sign-on failed: account_not_found',
      });
    }
    const [refusal] = await refusalsOf(acme);
    expect(refusal!.details.reason).toBe('account_not_found');
    expect(JSON.stringify(refusal)).not.toContain('nobody@');
  });

  it('returns to the sign-in page if it started there, with a code that is valid once and for its own tab', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const page = { return_to: 'login', challenge: createHash('sha256').update(verifier).digest('base64url') };
    const code = async () => {
      const { status, headers, text } = await post(await comeBackAs(acme, acme.email, page));
      const location = new URL(headers.get('location')!, app.url);
      expect([status, text, location.pathname, location.searchParams.get('tenant_id')]).toEqual([
        303,
        '',
        '/login',
        acme.tenantId,
      ]);
      return location.searchParams.get('sso_code')!;
    };
    const exchange = (body: object) => app.anonymous.post('/api/v1/auth/sso/exchange', body);
    const first = await code();
    const { status, body } = await exchange({ code: first, verifier });
    expect([status, body.user.id]).toEqual([200, acme.adminId]);
    expect((await app.as(body.accessToken).get('/api/v1/admin/me')).status).toBe(200);
    const second = await code();
    const foreign = { code: second, verifier: randomBytes(32).toString('base64url') };
    for (const refused of [{ code: first, verifier }, foreign, { code: second, verifier }]) {
      const answer = await exchange(refused);
      expect([answer.status, answer.body]).toEqual([
        401,
        expect.objectContaining({ error: 'invalid or expired code' }),
      ]);
    }
  });

  it('shows the reason of a refusal on the sign-in page, not in the URL', async () => {
    const page = { return_to: 'login', challenge: 'a'.repeat(43) };
    const { headers, status } = await post(await comeBackAs(acme, 'nobody@t1.example', page));
    expect([status, headers.get('location')]).toEqual([
      303,
      `/login?tenant_id=${acme.tenantId}&sso_error=account_not_found`,
    ]);
    const named = Buffer.from(acme.tenantId.replaceAll('-', ''), 'hex').toString('base64url');
    const late = await post({ samlResponse: 'PFI+', relayState: `p${named}.${'x'.repeat(43)}` });
    expect([late.status, late.headers.get('location')]).toEqual([
      303,
      `/login?tenant_id=${acme.tenantId}&sso_error=invalid_state`,
    ]);
    const none = await start(await app.newTenant(), page);
    expect([none.status, none.headers.get('location')?.endsWith('sso_error=sso_not_configured')]).toEqual([302, true]);
  });

  it('signs its requests if it has a key, describes itself with the certificate, and never shows the key', async () => {
    const tenant = await app.newTenant();
    const configId = await configure(tenant, {
      spSigningKey: ours.privateKeyPem,
      spCertificate: ours.certificatePem,
      signRequests: true,
    });
    const demanding = await startSamlIdentityProvider();
    demanding.requireSigned(ours.certificatePem);
    demanding.signsIn(tenant.email);
    const change = { idpSsoUrl: demanding.ssoUrl, idpCertificate: demanding.pair.certificatePem };
    expect((await tenant.admin.put(`/api/v1/admin/sso-configs/${configId}`, change)).status).toBe(200);
    const posted = await demanding.visit((await start(tenant)).headers.get('location')!);
    expect((await post(posted)).body.user.id).toBe(tenant.adminId);
    const metadata = await app.anonymous.get(`/api/v1/auth/saml/metadata?tenant_id=${tenant.tenantId}`);
    expect([metadata.status, metadata.headers.get('content-type')]).toEqual([200, 'application/samlmetadata+xml']);
    expect(metadata.text).toContain('AuthnRequestsSigned="true"');
    expect(metadata.text).not.toContain('PRIVATE');
    await demanding.close();
  });

  it('follows its configuration at once: once disabled, it admits nobody, including pending sign-ins', async () => {
    const tenant = await app.newTenant();
    const configId = await configure(tenant);
    const underWay = await comeBackAs(tenant, tenant.email);
    await tenant.admin.put(`/api/v1/admin/sso-configs/${configId}`, { isEnabled: false });
    expect((await post(underWay)).body).toMatchObject({ error: 'single sign-on failed: sso_not_configured' });
    expect((await start(tenant)).status).toBe(404);
  });

  it('is limited to its configured domains', async () => {
    const tenant = await app.newTenant();
    await configure(tenant, { emailDomains: ['elsewhere.example'] });
    expect((await post(await comeBackAs(tenant, tenant.email))).body).toMatchObject({
      error: 'single sign-on failed: account_not_found',
    });
  });

  it('signs no sign-in request if it must not, and keeps its certificate in the metadata: logouts are signed', async () => {
    const tenant = await app.newTenant();
    await configure(tenant, {
      spSigningKey: ours.privateKeyPem,
      spCertificate: ours.certificatePem,
      signRequests: false,
    });
    expect((await start(tenant)).headers.get('location')).not.toContain('Signature=');
    const { text } = await app.anonymous.get(`/api/v1/auth/saml/metadata?tenant_id=${tenant.tenantId}`);
    expect(text).toContain('AuthnRequestsSigned="false"');
    expect(text).toContain('<ds:X509Certificate>');
  });

  it('takes a response as a form of a browser only', async () => {
    const { samlResponse, relayState } = await comeBackAs(acme, acme.email);
    for (const [media, raw] of [
      [
        'multipart/form-data; boundary=x',
        `--x\r\ncontent-disposition: form-data; name="SAMLResponse"\r\n\r\n${samlResponse}\r\n--x--\r\n`,
      ],
      ['application/json', JSON.stringify({ SAMLResponse: samlResponse, RelayState: relayState })],
    ] as const) {
      const headers = { 'content-type': media };
      const { status, body } = await app.anonymous.send('POST', '/api/v1/auth/saml/callback', { raw, headers });
      const message = 'must be application/x-www-form-urlencoded, in UTF-8';
      expect([status, body.fields]).toEqual([415, [{ field: 'Content-Type', message }]]);
    }
    expect((await post({ samlResponse, relayState })).status).toBe(200);
  });

  it('rejects a certificate whose signatures it could not check', async () => {
    const { certificatePem } = newAuthority('elliptic', Date.now());
    const provided = {
      protocol: 'saml',
      idpEntityId: 'urn:x',
      idpSsoUrl: 'https://idp.example',
      idpCertificate: certificatePem,
    };
    const { status, body } = await acme.admin.post('/api/v1/admin/sso-configs', provided);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ error: 'validation failed: idpCertificate: must hold RSA keys' }),
    ]);
  });

  it('requires a tenant if there are several', async () => {
    for (const path of ['login', 'metadata']) {
      expect((await app.anonymous.get(`/api/v1/auth/saml/${path}`)).status).toBe(400);
      expect((await app.anonymous.get(`/api/v1/auth/saml/${path}?tenant_id=acme`)).status).toBe(400);
      expect((await app.anonymous.get(`/api/v1/auth/saml/${path}?tenant_id=${randomUUID()}`)).status).toBe(404);
      const named = await app.anonymous.get(`/api/v1/auth/saml/${path}`, { headers: { 'x-tenant-id': acme.tenantId } });
      expect(named.status).toBe(path === 'login' ? 302 : 200);
    }
  });

  it('accepts a form with a response in it, and nothing else', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await app.anonymous.send('POST', CALLBACK, { raw: 'SAMLResponse=PFI%2B', headers: form })).status).toBe(
      401,
    );
    expect((await app.anonymous.send('POST', CALLBACK, { raw: 'RelayState=x', headers: form })).status).toBe(400);
  });
});
