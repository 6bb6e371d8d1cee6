import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { navigate } from '../dsl/navigating.ts';
import { hasSimpleSamlPhp, PeerBrowser, startSimpleSamlPhp, type SimpleSamlPhp } from './simplesamlphp.ts';

const OURS = 'https://castellan.example';
const field = (html: string, name: string): string =>
  (new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(html)?.[1] ?? '').replaceAll('&amp;', '&');

// Skipped visibly where the packages simplesamlphp and php-cli are not installed.
describe.skipIf(!hasSimpleSamlPhp)('SimpleSAMLphp as the provider of a tenant', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let peer: SimpleSamlPhp;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
    peer = await startSimpleSamlPhp(tenant.email);
    const { status, body } = await tenant.admin.post('/api/v1/admin/sso-configs/import', {
      metadataUrl: peer.metadataUrl,
    });
    expect(status).toBe(201);
    peer.trusts({
      entityId: body.spEntityId,
      acsUrl: body.acsUrl,
      sloUrl: `${OURS}/api/v1/auth/saml/logout?tenant_id=${tenant.tenantId}`,
    });
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

  it('goes on with its own logout if it does not sign, and is told that we refused', async () => {
    const browser = new PeerBrowser();
    const session = await signIn(browser);
    peer.signsLogouts(false);
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
