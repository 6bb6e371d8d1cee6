import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTenant, setBaseUrl } from '../../../../src/app/cli/tenants.ts';
import { enabledSsoConfig } from '../../../../src/contexts/sso/enabled-config.ts';
import { httpClient, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { browser, enrollmentTokenOf, tryToEnroll } from '../../../dsl/enrolled-device.ts';
import { freePort } from '../../../dsl/free-port.ts';
import { licenseKey } from '../../../dsl/licenses.ts';
import { newOrganization } from '../../../dsl/organization.ts';

const URL_PATH = '/api/v1/admin/settings/external-base-url';
const ORG_PATH = '/api/v1/org/external-base-url';
const NEW = 'https://new.castellan.example/base';

describe('the external URL', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp({ extensionBaseUrl: undefined, tlsPort: await freePort() });
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('is changed by a super admin with a fresh proof, and everything that depends on it follows', async () => {
    const sso = { issuerUrl: 'https://idp.example', clientId: 'castellan', clientSecret: 'a-client-secret' };
    const { id } = (await acme.admin.post('/api/v1/admin/sso-configs', sso)).body;
    const before = await acme.admin.get(URL_PATH);
    expect(before.body.externalBaseUrl).toBe('https://castellan.example');

    const changed = await acme.admin.put(URL_PATH, { externalBaseUrl: `${NEW}//` });
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        externalBaseUrl: NEW,
        apiEndpoint: `https://new.castellan.example:${app.config.tlsPort}`,
        oidcRedirectUri: `${NEW}/api/v1/auth/sso/callback`,
        samlEntityId: `${NEW}/api/v1/auth/saml/metadata?tenant_id=${acme.tenantId}`,
        samlAcsUrl: `${NEW}/api/v1/auth/saml/callback`,
      },
    ]);
    expect((await acme.admin.get(URL_PATH)).body).toEqual(changed.body);
    expect((await acme.admin.get(`/api/v1/admin/sso-configs/${id}`)).body.redirectUri).toBe(
      changed.body.oidcRedirectUri,
    );
    expect(await enabledSsoConfig(app.services, acme.tenantId, 'oidc')).toMatchObject({ externalBaseUrl: NEW });
    expect((await acme.admin.get('/api/v1/admin/enrollment/config')).body.apiEndpoint).toBe(changed.body.apiEndpoint);

    await app.settled();
    const log = await acme.admin.get('/api/v1/admin/audit-log?action=tenant.base_url_changed');
    expect(log.body.auditLogs).toMatchObject([{ actorId: acme.adminId, details: { externalBaseUrl: NEW } }]);
    const { alerts } = (await acme.admin.get('/api/v1/admin/alerts')).body;
    expect(alerts.map(({ metadata }: { metadata: { change?: string } }) => metadata.change)).toContain(
      'base_url_changed',
    );
  });

  it.each([
    ['https://CASTELLAN.Example:443/Base', 'https://castellan.example/Base'],
    ['https://b\u00fccher.example/', 'https://xn--bcher-kva.example'],
    ['https://acme.example.:8443/a/', 'https://acme.example:8443/a'],
    ['https://castellan.example/a/../b', 'https://castellan.example/b'],
  ])('is stored as browsers write it: %s', async (externalBaseUrl, stored) => {
    const changed = await acme.admin.put(URL_PATH, { externalBaseUrl });
    expect([changed.status, changed.body.externalBaseUrl]).toEqual([200, stored]);
    expect((await acme.admin.put(URL_PATH, { externalBaseUrl: NEW })).status).toBe(200);
  });

  it('is refused without the role, the proof or a usable URL, and for a state that somebody changed meanwhile', async () => {
    const { client: admin } = await app.adminWithRole(acme, 'admin');
    expect((await admin.put(URL_PATH, { externalBaseUrl: NEW })).status).toBe(403);
    expect((await app.as(acme.token).put(URL_PATH, { externalBaseUrl: NEW })).body.error).toBe(
      're-authentication required',
    );
    for (const externalBaseUrl of [
      'ftp://castellan.example',
      'castellan.example',
      'https://user:word@castellan.example',
      'https://castellan.example?x=1',
      'https://castellan.example/#top',
      'https://castellan.example/%zz',
      '',
      null,
    ])
      expect([externalBaseUrl, (await acme.admin.put(URL_PATH, { externalBaseUrl })).status]).toEqual([
        externalBaseUrl,
        400,
      ]);
    const { headers } = await acme.admin.get(URL_PATH);
    await acme.admin.put(URL_PATH, { externalBaseUrl: 'https://third.example' });
    const late = await acme.admin.put(
      URL_PATH,
      { externalBaseUrl: NEW },
      { headers: { 'if-match': headers.get('etag')! } },
    );
    expect(late.status).toBe(412);
    expect((await acme.admin.get(URL_PATH)).body.externalBaseUrl).toBe('https://third.example');
  });

  it('is changed by the owner of an organization', async () => {
    const north = await newOrganization(app);
    await north.write('POST', '/api/v1/org/sso-configs', { issuerUrl: 'https://idp.example', clientId: 'castellan' });
    const host = `${randomUUID()}.example`;
    const changed = await north.write('PUT', ORG_PATH, { externalBaseUrl: `https://${host}` });
    expect(changed.body).toEqual({
      externalBaseUrl: `https://${host}`,
      oidcRedirectUri: `https://${host}/api/v1/org/auth/sso/callback`,
    });
    expect((await north.owner.get(ORG_PATH)).body).toEqual(changed.body);
    const status = await app.anonymous.get(`/api/v1/org/auth/sso/status?host=${host}`);
    expect(status.body).toMatchObject({ ssoAvailable: true, loginUrl: expect.stringContaining(`https://${host}/`) });
  });

  it('is that of the installation for a tenant from the command line, and an operator can repair it', async () => {
    const made = (baseUrl?: string) =>
      createTenant(app.services, {
        name: 'Zed',
        email: `${randomUUID()}@zed.example`,
        licenseKey: licenseKey({ clientName: 'Zed' }),
        baseUrl,
      });
    const empty = await startApp();
    const first = { name: 'One', email: 'one@one.example', licenseKey: licenseKey({ clientName: 'One' }) };
    const { externalBaseUrl: own } = await createTenant(empty.services, first);
    expect(own).toBe(`http://${empty.config.host}:${empty.config.port}`);
    await empty.close();
    await app.settled();
    const zed = await made();
    expect(zed.externalBaseUrl).toMatch(/^https:\/\//);
    expect((await made('https://zed.example/')).externalBaseUrl).toBe('https://zed.example');
    await expect(made('zed.example')).rejects.toThrow('base-url');
    await setBaseUrl(app.services, { tenant: zed.tenantId, url: 'https://repaired.example/' });
    expect(await app.services.lookups.tenant(zed.tenantId, zed.tenantId)).toMatchObject({
      externalBaseUrl: 'https://repaired.example',
    });
  });

  it('leads devices to the listener that accepts their certificates', async () => {
    const local = await app.newTenant({ externalBaseUrl: 'http://127.0.0.1:8080' });
    const bulk = await local.admin.post('/api/v1/admin/enrollment/bulk-config', { count: 1 });
    const [{ apiEndpoint, token }] = bulk.body.configs;
    expect(apiEndpoint).toBe(app.tlsUrl);
    // The browser knows nothing but its configuration. The listener's certificate is self-signed here.
    const enrolling = app.device('', '').post('/api/v1/enroll/certificate', browser({ enrollmentToken: token }), {
      headers: { 'x-tenant-id': local.tenantId },
    });
    const { status, body } = await enrolling;
    expect([status, body.apiEndpoint]).toEqual([200, apiEndpoint]);
    const device = app.device(body.clientCertificate, body.clientPrivateKey);
    expect((await device.get('/api/v1/ext/policies')).status).toBe(200);
    device.close();
    expect((await httpClient(app.url, {}).get('/api/v1/ext/policies')).status).toBe(401);
  });

  it('is not where devices go if the operator names their address', async () => {
    const named = await startApp({ extensionBaseUrl: 'https://devices.example' });
    const tenant = await named.newTenant();
    expect((await tenant.admin.get('/api/v1/admin/enrollment/config')).body.apiEndpoint).toBe(
      'https://devices.example',
    );
    const enrolled = await tryToEnroll(named, tenant.tenantId, await enrollmentTokenOf(tenant));
    expect(enrolled.body.apiEndpoint).toBe('https://devices.example');
    await named.close();
  });
});
