import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ssoConfigView } from '../../../../queries/sso/sso-config-view.ts';
import { attachTenantAsOperator } from '../../../../src/app/cli/organization-commands.ts';
import { enabledSsoConfig } from '../../../../src/contexts/sso/enabled-config.ts';
import { sharedApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';
import { newSigningPair } from '../../../dsl/saml-identity-provider.ts';

const CONFIGS = '/api/v1/admin/sso-configs';
const pair = newSigningPair('castellan');
const SECRET = 'a-client-secret-nobody-reads';
const oidc = {
  name: 'Okta',
  issuerUrl: 'https://idp.example',
  clientId: 'castellan',
  clientSecret: SECRET,
  emailDomains: ['Acme.Example'],
};
const saml = {
  protocol: 'saml',
  idpEntityId: 'https://adfs.example',
  idpSsoUrl: 'https://adfs.example/sso',
  idpCertificate: pair.certificatePem,
  spSigningKey: pair.privateKeyPem,
};

let app: TestApp;
let acme: TestTenant;
beforeAll(async () => {
  app = await sharedApp();
});
beforeEach(async () => {
  acme = await app.newTenant();
});
afterAll(() => app.close());

describe("a tenant's SSO configurations", () => {
  const created = async (body: object): Promise<{ id: string }> => (await acme.admin.post(CONFIGS, body)).body;

  it('show everything of OpenID Connect but the secret', async () => {
    const { status, body, text } = await acme.admin.post(CONFIGS, oidc);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      tenantId: acme.tenantId,
      managedBy: 'tenant',
      protocol: 'oidc',
      name: 'Okta',
      isEnabled: true,
      emailDomains: ['acme.example'],
      issuerUrl: 'https://idp.example',
      clientId: 'castellan',
      clientSecretConfigured: true,
      scopes: 'openid email profile',
      clientAuthentication: 'auto',
      emailsVerified: false,
      allowPrivateNetwork: false,
      caCertificate: null,
      redirectUri: 'https://castellan.example/api/v1/auth/sso/callback',
      postLogoutRedirectUri: 'https://castellan.example/login',
      initiateLoginUri: `https://castellan.example/api/v1/auth/sso/initiate?tenant_id=${acme.tenantId}`,
      backchannelLogoutUri: `https://castellan.example/api/v1/auth/sso/backchannel-logout?tenant_id=${acme.tenantId}`,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await acme.admin.get(`${CONFIGS}/${body.id}`)).body).toEqual(body);
    const list = await acme.admin.get(CONFIGS);
    expect(list.body).toEqual({ configs: [body], total: 1 });
    expect(text + list.text).not.toContain(SECRET);
    expect(await enabledSsoConfig(app.services, acme.tenantId, 'oidc')).toMatchObject({
      secret: SECRET,
      externalBaseUrl: 'https://castellan.example',
      config: { configId: body.id },
    });
  });

  it('show everything of SAML but the key', async () => {
    const { status, body, text } = await acme.admin.post(CONFIGS, saml);
    expect(status).toBe(201);
    expect(ssoConfigView.parse(body)).toEqual(body);
    expect(body).toEqual({
      id: expect.any(String),
      tenantId: acme.tenantId,
      managedBy: 'tenant',
      protocol: 'saml',
      name: 'adfs.example',
      isEnabled: true,
      emailDomains: [],
      idpEntityId: 'https://adfs.example',
      idpSsoUrl: 'https://adfs.example/sso',
      idpSloUrl: null,
      idpSloResponseUrl: null,
      idpCertificate: pair.certificatePem,
      spEntityId: `https://castellan.example/api/v1/auth/saml/metadata?tenant_id=${acme.tenantId}`,
      acsUrl: 'https://castellan.example/api/v1/auth/saml/callback',
      spSigningKeyConfigured: true,
      spCertificate: null,
      signRequests: false,
      nameIdFormat: 'emailAddress',
      emailAttribute: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(text).not.toContain('PRIVATE KEY');
    expect((await enabledSsoConfig(app.services, acme.tenantId, 'saml'))!.secret).toBe(pair.privateKeyPem);
    expect(await enabledSsoConfig(app.services, acme.tenantId, 'oidc')).toBeUndefined();
  });

  it('take a copied client secret without the blanks and the line break around it', async () => {
    await created({ ...oidc, clientSecret: ` ${SECRET}\r\n` });
    expect((await enabledSsoConfig(app.services, acme.tenantId, 'oidc'))!.secret).toBe(SECRET);
  });

  it.each([
    ['clientSecret', oidc, 'another secret', 'clientSecretConfigured'],
    ['spSigningKey', saml, newSigningPair('next').privateKeyPem, 'spSigningKeyConfigured'],
  ] as const)(
    'keep %s if a change omits it, clear it with null, and reject an empty one',
    async (field, draft, next, configured) => {
      const { id } = await created(draft);
      const path = `${CONFIGS}/${id}`;
      const protocol = field === 'clientSecret' ? 'oidc' : 'saml';
      const kept = async () => (await enabledSsoConfig(app.services, acme.tenantId, protocol))!.secret;
      const first = await kept();
      expect((await acme.admin.put(path, { name: 'Renamed' })).body).toMatchObject({
        name: 'Renamed',
        [configured]: true,
      });
      expect(await kept()).toBe(first);
      expect((await acme.admin.put(path, { [field]: '' })).status).toBe(400);
      expect(await kept()).toBe(first);
      expect((await acme.admin.put(path, { [field]: next })).body).toMatchObject({ [configured]: true });
      expect(await kept()).toBe(next);
      expect((await acme.admin.put(path, { [field]: null })).body).toMatchObject({ [configured]: false });
      expect(await kept()).toBeNull();
      const secrets = await app.services.database.owner.query(
        `select 1 from secrets where tenant_id = $1 and field = 'secret'`,
        [acme.tenantId],
      );
      expect(secrets.rowCount).toBe(0);
    },
  );

  it('are enabled one per protocol at a time, also when twenty are added at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => acme.admin.post(CONFIGS, { ...oidc, isEnabled: true })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect((await acme.admin.post(CONFIGS, { ...saml, isEnabled: true })).status).toBe(201);
    const second = await created({ ...oidc, isEnabled: false });
    expect((await acme.admin.put(`${CONFIGS}/${second.id}`, { isEnabled: true })).status).toBe(409);
    const [first] = answers.filter(({ status }) => status === 201);
    expect((await acme.admin.delete(`${CONFIGS}/${first!.body.id}`)).status).toBe(204);
    expect((await acme.admin.put(`${CONFIGS}/${second.id}`, { isEnabled: true })).body).toMatchObject({
      isEnabled: true,
    });
  });

  it.each([
    ['an unknown protocol', { ...oidc, protocol: 'ldap' }],
    ['an issuer without TLS', { ...oidc, issuerUrl: 'http://idp.example' }],
    ['no issuer', { ...oidc, issuerUrl: undefined }],
    ['scopes that are no sign-in', { ...oidc, scopes: 'email' }],
    ['a domain that is none', { ...oidc, emailDomains: ['not a domain'] }],
    ['SAML without a certificate', { ...saml, idpCertificate: undefined }],
    [
      'a certificate that is none',
      { ...saml, idpCertificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
    ],
    ['a key as certificate', { ...saml, idpCertificate: pair.privateKeyPem }],
    ['a key that is none', { ...saml, spSigningKey: 'hush' }],
    ["another key's certificate", { ...saml, spCertificate: newSigningPair('other').certificatePem }],
    ['signed requests without a key', { ...saml, spSigningKey: undefined, signRequests: true }],
    ['an address without TLS', { ...saml, idpSsoUrl: 'http://adfs.example/sso' }],
    ['an address that is a script', { ...saml, idpSloUrl: 'javascript:alert(1)' }],
    ['an unknown form of names', { ...saml, nameIdFormat: 'x509' }],
  ])('reject %s', async (_what, body) => {
    const { status, text } = await acme.admin.post(CONFIGS, body);
    expect(status).toBe(400);
    expect(text).not.toContain('PRIVATE KEY');
    expect((await acme.admin.get(CONFIGS)).body.total).toBe(0);
  });

  it('of another tenant are not found', async () => {
    const { id } = await created(oidc);
    const other = await app.newTenant();
    for (const answer of [
      await other.admin.get(`${CONFIGS}/${id}`),
      await other.admin.put(`${CONFIGS}/${id}`, { name: 'Mine' }),
      await other.admin.delete(`${CONFIGS}/${id}`),
    ])
      expect(answer.status).toBe(404);
    expect((await other.admin.get(CONFIGS)).body).toEqual({ configs: [], total: 0 });
  });

  it('are read by admins and written by super admins (choice OP-268)', async () => {
    const { client: admin } = await app.adminWithRole(acme, 'admin');
    const { client: analyst } = await app.adminWithRole(acme, 'analyst');
    expect([
      (await admin.get(CONFIGS)).status,
      (await admin.post(CONFIGS, oidc)).status,
      (await analyst.get(CONFIGS)).status,
    ]).toEqual([200, 403, 403]);
  });

  it('leave no secret in events and audit log, which contain their names', async () => {
    const { id } = await created(saml);
    await created(oidc);
    await acme.admin.put(`${CONFIGS}/${id}`, { name: 'Renamed' });
    await acme.admin.delete(`${CONFIGS}/${id}`);
    await app.settled();
    const { rows } = await app.services.database.owner.query('select data::text from events where tenant_id = $1', [
      acme.tenantId,
    ]);
    const log = await acme.admin.get('/api/v1/admin/audit-log?resource_type=sso_config');
    expect(log.body.auditLogs.map(({ action }: { action: string }) => action).sort()).toEqual([
      'sso_config.created',
      'sso_config.created',
      'sso_config.deleted',
      'sso_config.updated',
    ]);
    for (const text of [JSON.stringify(rows), log.text])
      expect([text.includes(SECRET), text.includes('PRIVATE KEY')]).toEqual([false, false]);
  });
});

describe('the connection test of a configuration', () => {
  it('checks the fields of a SAML provider', async () => {
    const { spSigningKey: _key, ...provider } = saml;
    expect((await acme.admin.post(`${CONFIGS}/test`, provider)).body).toEqual({
      success: true,
      message: 'the certificate and the addresses are valid',
      issuer: saml.idpEntityId,
      authorizationEndpoint: saml.idpSsoUrl,
      tokenEndpoint: null,
      jwksUri: null,
    });
    expect((await acme.admin.post(`${CONFIGS}/test`, { ...provider, idpCertificate: 'none' })).status).toBe(400);
  });

  it.each([
    'https://169.254.169.254/latest',
    'https://10.0.0.1',
    'https://192.168.1.1',
    'https://127.0.0.1:8443',
    'https://2130706433',
    'https://0x7f.1',
    'https://[::1]',
    'https://[::ffff:169.254.169.254]',
    'https://[::ffff:7f00:1]',
    'https://[64:ff9b::7f00:1]',
    'https://[fd00::1]',
    'http://idp.example',
  ])('refuses %s, as a creation does, beside other fields', async (issuerUrl) => {
    const wrong = { issuerUrl, clientId: 'c', name: 5 };
    const [tried, created] = [await acme.admin.post(`${CONFIGS}/test`, wrong), await acme.admin.post(CONFIGS, wrong)];
    expect([tried.status, tried.body.fields]).toEqual([400, created.body.fields]);
    expect(tried.body.fields.map(({ field }: { field: string }) => field).sort()).toEqual(['issuerUrl', 'name']);
    expect((await acme.admin.post(`${CONFIGS}/test`, { issuerUrl, clientId: 'c' })).status).toBe(400);
  });

  it('does not contact an address that a look-up shows to be private, and says why', async () => {
    const { status, body } = await acme.admin.post(`${CONFIGS}/test`, {
      issuerUrl: 'https://localhost',
      clientId: 'c',
    });
    expect([status, body]).toEqual([
      200,
      {
        success: false,
        message: expect.stringMatching(/^the address leads to (a private network that|an address that is never)/),
        issuer: null,
        authorizationEndpoint: null,
        tokenEndpoint: null,
        jwksUri: null,
      },
    ]);
  });
});

describe('an organization with the SSO configurations of its tenants', () => {
  let north: TestOrganization;
  const path = (tenantId: string = acme.tenantId) => `/api/v1/org/tenants/${tenantId}/sso-configs`;
  beforeAll(async () => {
    north = await newOrganization(app, 'North MSSP');
  });
  beforeEach(() => attachTenantAsOperator(app.services, { slug: north.slug, tenant: acme.tenantId }));

  it('sees the same ones as the tenant', async () => {
    const { status, body } = await north.write('POST', path(), oidc);
    expect([status, body.tenantId]).toEqual([201, acme.tenantId]);
    expect((await acme.admin.get(`${CONFIGS}/${body.id}`)).body).toEqual(body);
    expect((await north.owner.get(path())).body).toEqual({ configs: [body], total: 1 });
    expect((await north.owner.get(`${path()}/${body.id}`)).body).toEqual(body);
    const changed = await north.write('PUT', `${path()}/${body.id}`, { name: 'Entra' });
    expect([changed.status, changed.body.name, changed.body.clientSecretConfigured]).toEqual([200, 'Entra', true]);
    expect((await enabledSsoConfig(app.services, acme.tenantId, 'oidc'))!.secret).toBe(SECRET);
    const ofSaml = await north.write('POST', path(), saml);
    expect(ofSaml.status).toBe(201);
    const metadata = samlMetadata({ entityId: saml.idpEntityId, ssoUrl: 'https://idp.example/new' });
    const refreshed = await north.write('PUT', `${path()}/${ofSaml.body.id}/metadata`, { metadata });
    expect([refreshed.status, refreshed.body.idpSsoUrl]).toEqual([200, 'https://idp.example/new']);
    expect((await north.write('DELETE', `${path()}/${body.id}`)).status).toBe(204);
    expect((await acme.admin.get(CONFIGS)).body.total).toBe(1);
    await app.settled();
    const log = await acme.admin.get('/api/v1/admin/audit-log?resource_type=sso_config');
    expect(log.body.auditLogs).toHaveLength(5);
  });

  it('is checked for session, role and re-authentication before the tenant is looked up and the body is read', async () => {
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    const foreign = (await app.newTenant()).tenantId;
    const writes = (tenantId: string) =>
      [
        ['POST', path(tenantId)],
        ['PUT', `${path(tenantId)}/${randomUUID()}`],
        ['DELETE', `${path(tenantId)}/${randomUUID()}`],
      ] as const;
    for (const tenantId of [foreign, randomUUID(), 'no-id', acme.tenantId]) {
      for (const [method, address] of writes(tenantId)) {
        const asking = method === 'DELETE' ? {} : { body: { issuerUrl: 7 } };
        const refused = async (client: Client, headers = {}) =>
          (await client.send(method, address, { ...asking, headers })).status;
        expect(await refused(app.anonymous)).toBe(401);
        expect(await refused(acme.admin)).toBe(401);
        expect(await refused(viewer.client)).toBe(403);
        expect(await refused(north.owner)).toBe(403);
        const token = await north.proof();
        expect(await refused(north.owner, { 'x-reauth-token': token })).toBe(
          tenantId === acme.tenantId && method === 'POST'
            ? 400
            : tenantId === acme.tenantId && method === 'PUT'
              ? 400
              : 404,
        );
        // Used up, whatever the outcome of the write.
        expect(await refused(north.owner, { 'x-reauth-token': token })).toBe(403);
      }
    }
    expect([
      (await viewer.client.get(path())).status,
      (await viewer.client.get(path(foreign))).status,
      (await viewer.client.post(`${path()}/test`, oidc)).status,
    ]).toEqual([200, 404, 403]);
    expect(
      (await north.owner.post(`${path()}/test`, { issuerUrl: 'https://localhost', clientId: 'c' })).body.success,
    ).toBe(false);
    expect((await north.owner.post(`${path(foreign)}/test`, { issuerUrl: 7 })).status).toBe(404);
  });

  it('succeeds with one of two hundred writes with one token', async () => {
    const headers = { 'x-reauth-token': await north.proof() };
    const answers = await Promise.all(Array.from({ length: 200 }, () => north.owner.post(path(), oidc, { headers })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(199);
  });

  it("does not find another tenant's configuration under the path of its own", async () => {
    const other = await app.newTenant();
    const { id } = (await other.admin.post(CONFIGS, oidc)).body;
    expect((await north.owner.get(`${path()}/${id}`)).status).toBe(404);
    expect((await north.owner.get(`${path(other.tenantId)}/${id}`)).status).toBe(404);
    expect((await north.write('PUT', `${path()}/${id}`, { name: 'Mine' })).status).toBe(404);
    expect((await north.write('DELETE', `${path()}/${id}`)).status).toBe(404);
  });
});
