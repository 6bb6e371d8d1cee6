import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { navigate } from '../dsl/navigating.ts';
import { bareCertificate } from '../dsl/saml-documents.ts';
import { newSigningPair } from '../dsl/saml-identity-provider.ts';
import {
  hasSimpleSamlPhp,
  PeerBrowser,
  startSimpleSamlPhp,
  type PhpSettings,
  type SimpleSamlPhp,
} from './simplesamlphp.ts';

const OURS = 'https://castellan.example';
const field = (html: string, name: string): string =>
  (new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(html)?.[1] ?? '').replaceAll('&amp;', '&');

// Skipped visibly where the packages simplesamlphp and php-cli are not installed.
describe.skipIf(!hasSimpleSamlPhp)('SimpleSAMLphp as the provider of a tenant', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let peer: SimpleSamlPhp;
  let configId: string;
  let addresses: { entityId: string; acsUrl: string; sloUrl: string };
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
    peer = await startSimpleSamlPhp(tenant.email);
    const { status, body } = await tenant.admin.post('/api/v1/admin/sso-configs/import', {
      metadataUrl: peer.metadataUrl,
    });
    expect(status).toBe(201);
    configId = body.id as string;
    addresses = {
      entityId: body.spEntityId as string,
      acsUrl: body.acsUrl as string,
      sloUrl: `${OURS}/api/v1/auth/saml/logout?tenant_id=${tenant.tenantId}`,
    };
    peer.trusts(addresses);
  });
  afterAll(async () => {
    await peer.close();
    await app.close();
  });

  const answerIn = (html: string) => ({
    SAMLResponse: field(html, 'SAMLResponse'),
    RelayState: field(html, 'RelayState'),
  });
  const post = (html: string) =>
    app.anonymous.send('POST', '/api/v1/auth/saml/callback', {
      raw: new URLSearchParams(answerIn(html)).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  async function signIn(browser: PeerBrowser) {
    const { headers } = await app.anonymous.get(`/api/v1/auth/saml/login?tenant_id=${tenant.tenantId}`);
    const { html } = await browser.visit(headers.get('location')!);
    const { status, body } = await post(html);
    expect([status, body.user?.id]).toEqual([200, tenant.adminId]);
    return app.as(body.accessToken);
  }
  /** An address of ours, as the provider sent the browser to it. */
  const come = (address: string) => navigate(app.url + address.slice(OURS.length));

  it('signs the person in with its defaults, twice in one browser', async () => {
    const browser = new PeerBrowser();
    await signIn(browser);
    await signIn(browser);
  });

  it('starts a sign-in, which starts again here', async () => {
    const audience = `${OURS}/api/v1/auth/saml/metadata?tenant_id=${tenant.tenantId}`;
    const { html } = await new PeerBrowser().visit(
      `${peer.url}/saml2/idp/SSOService.php?spentityid=${encodeURIComponent(audience)}`,
    );
    expect(field(html, 'SAMLResponse')).not.toBe('');
    const { status, headers } = await navigate(`${app.url}/api/v1/auth/saml/callback`, answerIn(html));
    expect([status, headers.get('location')]).toEqual([303, `/login?tenant_id=${tenant.tenantId}&sso_start=saml`]);
  });

  it('ends its session when the person signs out here, and sends the browser back', async () => {
    const browser = new PeerBrowser();
    const session = await signIn(browser);
    const { body } = await session.post('/api/v1/auth/sso/logout');
    const { left } = await browser.visit(body.logoutUrl);
    expect(left).toContain('SAMLResponse=');
    const back = await come(left!);
    expect([back.status, back.headers.get('location')]).toEqual([302, `/login?tenant_id=${tenant.tenantId}`]);
  });

  it('ends our session when the person signs out there', async () => {
    const browser = new PeerBrowser();
    const session = await signIn(browser);
    const { left } = await browser.visit(
      `${peer.url}/saml2/idp/SingleLogoutService.php?ReturnTo=${encodeURIComponent(`${peer.url}/`)}`,
    );
    expect(left).toContain('SAMLRequest=');
    const { status, headers } = await come(left!);
    expect([status, headers.get('location')]).toEqual([302, expect.stringContaining(`${peer.url}/saml2/idp/`)]);
    expect((await session.get('/api/v1/admin/me')).status).toBe(401);
  });

  it.each<[string, PhpSettings, PhpSettings]>([
    ['sign.logout of the service', {}, { 'sign.logout': true }],
    ['redirect.sign of the provider', { 'redirect.sign': true }, {}],
    ['redirect.sign of the service', {}, { 'redirect.sign': true }],
  ])('ends our session with the settings of the guide: %s', async (_name, own, ofService) => {
    peer.hosts(own);
    peer.trusts(addresses, ofService);
    const browser = new PeerBrowser();
    const session = await signIn(browser);
    const { left } = await browser.visit(`${peer.url}/saml2/idp/SingleLogoutService.php?ReturnTo=${peer.url}/`);
    expect(left).toContain('&Signature=');
    const { headers } = await come(left!);
    expect((await session.get('/api/v1/admin/me')).status).toBe(401);
    expect((await browser.visit(headers.get('location')!)).html).toContain('SimpleSAMLphp installation page');
  });

  it('checks our signatures, if the guide is followed', async () => {
    const key = newSigningPair('castellan');
    peer.hosts({ 'sign.logout': true });
    const checks = { 'validate.logout': true, 'validate.authnrequest': true } as const;
    peer.trusts(addresses, { ...checks, certData: bareCertificate(key.certificatePem).replaceAll(/\s/g, '') });
    const stored = await tenant.admin.put(`/api/v1/admin/sso-configs/${configId}`, {
      spSigningKey: key.privateKeyPem,
      spCertificate: key.certificatePem,
      signRequests: true,
    });
    expect(stored.status).toBe(200);
    const browser = new PeerBrowser();
    const session = await signIn(browser);
    const { body } = await session.post('/api/v1/auth/sso/logout');
    expect((await browser.visit(body.logoutUrl)).left).toContain('SAMLResponse=');
    const other = newSigningPair('another');
    peer.trusts(addresses, { ...checks, certData: bareCertificate(other.certificatePem).replaceAll(/\s/g, '') });
    await expect(signIn(new PeerBrowser())).rejects.toThrow();
    peer.trusts(addresses);
  });

  it('goes on with its own logout if it does not sign, and is told that we refused', async () => {
    const browser = new PeerBrowser();
    const session = await signIn(browser);
    peer.hosts({});
    const { left } = await browser.visit(
      `${peer.url}/saml2/idp/SingleLogoutService.php?ReturnTo=${encodeURIComponent(`${peer.url}/`)}`,
    );
    expect(left).toMatch(/SAMLRequest=(?!.*Signature=)/);
    const { status, headers } = await come(left!);
    expect([status, headers.get('location')]).toEqual([302, expect.stringContaining(`${peer.url}/saml2/idp/`)]);
    expect((await session.get('/api/v1/admin/me')).status).toBe(200);
    const { html } = await browser.visit(headers.get('location')!);
    expect(html).toContain('<title>SimpleSAMLphp installation page</title>');
  });
});
