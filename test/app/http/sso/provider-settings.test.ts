import { once } from 'node:events';
import { get, type IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { privateNetworks } from '../../../../src/platform/outbound/private-networks.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { runDocumentedProvider, type RunningProvider } from '../../../dsl/documented-provider.ts';
import { DOCUMENTED } from '../../../dsl/documented-providers.ts';
import { newOrganization, type TestOrganization } from '../../../dsl/organization.ts';
import { ownAuthority } from '../../../dsl/own-authority.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';
import { returnsFromProvider, startsSignIn } from '../../../dsl/sso-browser.ts';

const HOME = 'https://castellan.example';
const CONFIGS = '/api/v1/admin/sso-configs';
const ORG_CONFIGS = '/api/v1/org/sso-configs';
const PLENTY = 1_000_000;
const SSO_BUDGET = 200;
const entra = DOCUMENTED['Entra ID as registered']!;

let app: TestApp;
let acme: TestTenant;
let north: TestOrganization;
let provider: RunningProvider;
let orgProvider: RunningProvider;
const tls = ownAuthority();
beforeAll(async () => {
  const rateBudgets = { login: 1, 'org-login': PLENTY, setup: PLENTY, sso: SSO_BUDGET };
  app = await startApp({ outboundNetworks: privateNetworks(['127.0.0.0/8']), rateBudgets });
  acme = await app.newTenant();
  north = await newOrganization(app, 'North', HOME);
  const at = (path: string) =>
    runDocumentedProvider(entra, { redirectUri: HOME + path, postLogoutRedirectUri: `${HOME}/login`, tls });
  [provider, orgProvider] = await Promise.all([at('/api/v1/auth/sso/callback'), at('/api/v1/org/auth/sso/callback')]);
});
afterAll(async () => {
  await Promise.all([provider?.close(), orgProvider?.close()]);
  await app?.close();
});

const settings = (peer: RunningProvider, email: string) => ({
  name: 'Entra of Acme',
  issuerUrl: peer.issuer,
  clientId: peer.clientId,
  clientSecret: entra.clientSecret,
  emailDomains: [email.split('@')[1]],
  emailsVerified: true,
  allowPrivateNetwork: true,
  caCertificate: tls.cert,
});
const refusalsOf = async (): Promise<unknown[]> => {
  await app.settled();
  const { auditLogs } = (await acme.admin.get('/api/v1/admin/audit-log?action=sso.sign_in_refused')).body;
  return (auditLogs as { details: { reason: string; detail: string } }[]).map(({ details }) => details.detail);
};

describe('a provider in a private network that the operator listed', () => {
  it('is refused until the destination opts in, at once and with the field, for tenants and organizations', async () => {
    const hidden = { ...settings(provider, acme.email), allowPrivateNetwork: false };
    const refusal = 'validation failed: issuerUrl: leads to a private network: set allowPrivateNetwork to allow that';
    for (const answer of [await acme.admin.post(CONFIGS, hidden), await north.write('POST', ORG_CONFIGS, hidden)])
      expect([answer.status, answer.body.error]).toEqual([400, refusal]);
    const elsewhere = { ...hidden, issuerUrl: 'https://10.1.2.3', allowPrivateNetwork: true };
    expect((await acme.admin.post(CONFIGS, elsewhere)).body.error).toContain('OUTBOUND_PRIVATE_NETWORKS');
    const metadata = { ...hidden, issuerUrl: 'https://169.254.169.254', allowPrivateNetwork: true };
    expect((await acme.admin.post(CONFIGS, metadata)).body.error).toContain('never called');
    expect((await app.as(acme.token).post(CONFIGS, settings(provider, acme.email))).status).toBe(403);
    expect((await acme.admin.get(CONFIGS)).body.total).toBe(0);
  });

  it('is tested with its own authority, and not without', async () => {
    const { issuer: issuerUrl, clientId } = provider;
    const probe = async (over: object) =>
      (await acme.admin.post(`${CONFIGS}/test`, { issuerUrl, clientId, ...over })).body.success as boolean;
    expect(await probe({ allowPrivateNetwork: true, caCertificate: tls.cert })).toBe(true);
    expect(await probe({ allowPrivateNetwork: true })).toBe(false);
    expect(await probe({ caCertificate: tls.cert })).toBeUndefined();
    expect((await north.owner.post(`${ORG_CONFIGS}/test`, settings(provider, acme.email))).body.success).toBe(true);
  });

  it('gives its metadata only to an import that opts in, with its own authority', async () => {
    const page = createServer({ key: tls.key, cert: tls.cert }, (_request, response) => response.end(samlMetadata()));
    page.listen(0, '127.0.0.1');
    await once(page, 'listening');
    const metadataUrl = `https://127.0.0.1:${(page.address() as AddressInfo).port}/`;
    const imported = (over: object) => acme.admin.post(`${CONFIGS}/import`, { metadataUrl, isEnabled: false, ...over });
    try {
      for (const over of [{}, { caCertificate: tls.cert }, { allowPrivateNetwork: true }]) {
        const { status, body } = await imported(over);
        expect([status, body.error]).toEqual([400, expect.stringContaining('validation failed: metadataUrl: ')]);
      }
      const { status, body } = await imported({ allowPrivateNetwork: true, caCertificate: tls.cert });
      expect([status, body.idpEntityId]).toEqual([201, 'urn:example:described']);
      expect((await acme.admin.delete(`${CONFIGS}/${body.id}`)).status).toBe(204);
    } finally {
      page.close();
    }
  });
});

describe('e-mails that the owner of a configuration vouches for', () => {
  it('need domains', async () => {
    const unbound = { ...settings(provider, acme.email), emailDomains: [] };
    for (const answer of [await acme.admin.post(CONFIGS, unbound), await north.write('POST', ORG_CONFIGS, unbound)])
      expect([answer.status, answer.body.error]).toEqual([
        400,
        'validation failed: emailsVerified: needs emailDomains',
      ]);
  });

  it('sign an admin of a tenant in, are shown and audited, and no longer count when that ends', async () => {
    const { status, body } = await acme.admin.post(CONFIGS, settings(provider, acme.email));
    expect([status, body]).toMatchObject([201, { emailsVerified: true, allowPrivateNetwork: true }]);
    const signIn = async (email: string) => {
      provider.signsIn(email);
      const { address, cookie } = await startsSignIn(
        app.anonymous,
        `/api/v1/auth/sso/login?tenant_id=${acme.tenantId}&login_hint=${encodeURIComponent(email)}`,
      );
      expect(address.searchParams.get('login_hint')).toBe(email);
      const { searchParams } = await provider.authorize(address);
      return returnsFromProvider(app.anonymous, '/api/v1/auth/sso/callback', searchParams, cookie);
    };
    expect((await signIn(acme.email)).body.user.id).toBe(acme.adminId);
    expect((await signIn('owner@elsewhere.example')).status).toBe(401);
    const path = `${CONFIGS}/${body.id}`;
    expect((await acme.admin.put(path, { emailDomains: [] })).body.error).toContain('needs emailDomains');
    expect((await acme.admin.put(path, { emailsVerified: false })).body).toMatchObject({ emailsVerified: false });
    expect((await signIn(acme.email)).status).toBe(401);
    expect(await refusalsOf()).toEqual(['nothing said', 'foreign domain']);
    const { auditLogs } = (await acme.admin.get('/api/v1/admin/audit-log?action=sso_config.updated')).body;
    expect(auditLogs[0].details).toMatchObject({ emailsVerified: false, allowPrivateNetwork: true });
    expect((await acme.admin.put(path, { emailsVerified: true })).status).toBe(200);
  });

  it("sign an organization's admin in, who then signs out at the provider too", async () => {
    const { status } = await north.write('POST', ORG_CONFIGS, settings(orgProvider, north.email));
    expect(status).toBe(201);
    orgProvider.signsIn(north.email);
    const { address, cookie } = await startsSignIn(app.anonymous, `/api/v1/org/auth/sso/login?slug=${north.slug}`);
    const { searchParams } = await orgProvider.authorize(address);
    const back = await returnsFromProvider(app.anonymous, '/api/v1/org/auth/sso/callback', searchParams, cookie);
    const code = new URL(back.headers.get('location')!, HOME).searchParams.get('org_sso_code');
    const [bound, hint] = back.headers
      .getSetCookie()
      .filter((set) => !set.includes('Max-Age=0'))
      .map((set) => set.split(';')[0]!);
    const exchanged = await app.anonymous.post(
      '/api/v1/org/auth/sso/exchange',
      { code },
      { headers: { cookie: bound! } },
    );
    const session = app.as(exchanged.body.accessToken as string);
    const ended = await session.post('/api/v1/org/auth/sso/logout', undefined, { headers: { cookie: hint! } });
    const home = await orgProvider.logOut(new URL(ended.body.logoutUrl as string));
    expect(home.href).toBe(`${HOME}/login?state=organization`);
    expect((await session.post('/api/v1/org/auth/sso/logout')).status).toBe(401);
  });
});

describe('a sign-in that the portal of the provider starts', () => {
  const goes = async (path: string) => {
    const { status, headers } = await app.anonymous.get(path);
    expect(status).toBe(302);
    return headers.get('location');
  };
  it.each([
    ['tenant', () => `/api/v1/auth/sso/initiate?tenant_id=${acme.tenantId}`, () => provider],
    ['organization', () => `/api/v1/org/auth/sso/initiate?slug=${north.slug}`, () => orgProvider],
  ] as const)('of a %s goes on from the sign-in page, only for its issuer and nowhere else', async (kind, of, peer) => {
    const begin = kind === 'tenant' ? `tenant_id=${acme.tenantId}&sso_start=oidc` : `org_sso_start=${north.slug}`;
    const initiate = of();
    expect(await goes(initiate)).toBe(`/login?${begin}`);
    const given = new URLSearchParams({
      iss: peer().issuer,
      login_hint: 'ann@acme.example',
      target_link_uri: 'https://evil.example/',
    }).toString();
    expect(await goes(`${initiate}&${given}`)).toBe(`/login?${begin}#login_hint=ann%40acme.example`);
    expect(await goes(`${initiate}&iss=${encodeURIComponent('https://evil.example')}`)).toContain(
      'sso_error=sso_not_configured',
    );
    const posts = async (form: Record<string, string>) => {
      const raw = new URLSearchParams(form).toString();
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const { status, headers } = await app.anonymous.send('POST', initiate, { raw, headers: type });
      expect(status).toBe(303);
      return headers.get('location');
    };
    expect(await posts(Object.fromEntries(new URLSearchParams(given)))).toBe(
      `/login?${begin}#login_hint=ann%40acme.example`,
    );
    expect(await posts({ iss: 'https://evil.example' })).toContain('sso_error=sso_not_configured');
  });
});

/** As a browser navigates; `fetch` says that it does not. */
const browse = (path: string, mode = 'navigate') =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const headers = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': mode };
    get(app.url + path, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    }).on('error', reject);
  });

describe('a browser that meets an error', () => {
  it('gets the sign-in page with the reason, where a program gets JSON', async () => {
    const callback = '/api/v1/auth/sso/callback?code=c&state=unknown';
    expect((await app.anonymous.get(callback)).body).toMatchObject({ error: 'single sign-on failed: invalid_state' });
    const { status, headers } = await browse(callback);
    expect([status, headers.location]).toEqual([302, '/login?sso_error=invalid_state']);
  });

  it('gets a page for anything else, with the same status and nothing of the request', async () => {
    const path = '/api/v1/auth/sso/login?tenant_id=<script>';
    expect((await app.anonymous.get(path)).body).toMatchObject({ error: expect.stringContaining('validation failed') });
    const { status, headers, text } = await browse(path);
    expect([status, headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).toContain('<h1>This sign-in did not work</h1>');
    expect(text).not.toContain('script>');
    expect((await browse(path, 'cors')).text).toContain('validation failed');
  });

  it('is one of many from its office: sign-ins have a budget apart from passwords, and a page says when it is used up', async () => {
    // The budget of passwords is one here, and every sign-in above was beside it.
    const login = () =>
      app.anonymous.post('/api/v1/auth/login', {
        tenantId: acme.tenantId,
        email: 'a@b.example',
        password: 'wrong-password',
      });
    expect([(await login()).status, (await login()).status]).toEqual([401, 429]);
    const path = '/api/v1/auth/sso/callback?state=x';
    const answers = await Promise.all(Array.from({ length: SSO_BUDGET }, () => app.anonymous.get(path)));
    expect(answers.some(({ status }) => status === 401)).toBe(true);
    const { status, headers, text } = await browse(path);
    expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
    expect(text).toContain('<h1>Too many sign-ins at once</h1>');
  });
});
