import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  organization,
  organizationStream,
  orgSsoSecretLocation,
} from '../../../../src/contexts/organizations/domain/organization.ts';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization, type TestOrganization } from '../../../dsl/organization.ts';

const CONFIGS = '/api/v1/org/sso-configs';
const SECRET = 'a-client-secret-nobody-reads';
const providerFor = (domain: string) => ({
  name: 'Okta',
  issuerUrl: 'https://idp.example',
  clientId: 'castellan',
  clientSecret: SECRET,
  emailDomains: [domain],
  isEnabled: true,
});

describe('SSO configurations of an organization', () => {
  let app: TestApp;
  let north: TestOrganization;
  let provider: ReturnType<typeof providerFor>;
  beforeAll(async () => {
    app = await startApp();
  });
  beforeEach(async () => {
    north = await newOrganization(app);
    provider = providerFor(`${north.slug}.North.Example`);
  });
  afterAll(() => app.close());

  const secretOf = async (configId: string): Promise<string | undefined> => {
    const { ssoConfigs } = await app.services.loader.load(organization, organizationStream(north.organizationId));
    const reference = ssoConfigs.get(configId)?.clientSecretRef;
    return reference
      ? (await app.services.vault.get(north.organizationId, orgSsoSecretLocation(configId), reference))?.toString()
      : undefined;
  };
  const created = async (over: object = {}): Promise<{ id: string }> =>
    (await north.write('POST', CONFIGS, { ...provider, ...over })).body;

  it('show everything but the secret', async () => {
    const { status, body, text } = await north.write('POST', CONFIGS, provider);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      organizationId: north.organizationId,
      protocol: 'oidc',
      name: 'Okta',
      isEnabled: true,
      emailDomains: [`${north.slug}.north.example`],
      issuerUrl: 'https://idp.example',
      clientId: 'castellan',
      clientSecretConfigured: true,
      scopes: 'openid email profile',
      clientAuthentication: 'auto',
      emailsVerified: false,
      allowPrivateNetwork: false,
      caCertificate: null,
      redirectUri: expect.stringMatching(/^https?:\/\/.+\/api\/v1\/org\/auth\/sso\/callback$/),
      postLogoutRedirectUri: expect.stringMatching(/^https?:\/\/.+\/login$/),
      initiateLoginUri: expect.stringContaining(`/api/v1/org/auth/sso/initiate?slug=${north.slug}`),
      backchannelLogoutUri: expect.stringContaining(`/backchannel-logout?organization_id=${north.organizationId}`),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await north.owner.get(`${CONFIGS}/${body.id}`)).body).toEqual(body);
    const list = await north.owner.get(CONFIGS);
    expect(list.body).toEqual({ configs: [body], total: 1, requireSso: false });
    expect(text + list.text).not.toContain(SECRET);
    expect(await secretOf(body.id)).toBe(SECRET);
  });

  it('keep a secret that a change omits, clear it with null, and reject an empty one', async () => {
    const { id } = await created();
    const path = `${CONFIGS}/${id}`;
    expect((await north.write('PUT', path, { name: 'Entra' })).body).toMatchObject({
      name: 'Entra',
      clientSecretConfigured: true,
      clientId: 'castellan',
    });
    expect(await secretOf(id)).toBe(SECRET);
    expect((await north.write('PUT', path, { clientSecret: '' })).status).toBe(400);
    expect(await secretOf(id)).toBe(SECRET);
    expect((await north.write('PUT', path, { clientSecret: 'another' })).body).toMatchObject({
      clientSecretConfigured: true,
    });
    expect(await secretOf(id)).toBe('another');
    expect((await north.write('PUT', path, { clientSecret: null })).body).toMatchObject({
      clientSecretConfigured: false,
    });
    expect(await secretOf(id)).toBeUndefined();
  });

  it('leave no unused secret in the vault', async () => {
    const secrets = async () =>
      (
        await app.services.database.owner.query(
          `select 1 from secrets where tenant_id = $1 and field = 'clientSecret'`,
          [north.organizationId],
        )
      ).rowCount;
    const { id } = await created();
    await north.write('PUT', `${CONFIGS}/${id}`, { clientSecret: 'another' });
    expect(await secrets()).toBe(1);
    expect((await north.write('DELETE', `${CONFIGS}/${id}`)).status).toBe(204);
    expect(await secrets()).toBe(0);
  });

  it.each([
    ['another protocol', { protocol: 'saml' }],
    ['an address without TLS', { issuerUrl: 'http://idp.example' }],
    ['no address', { issuerUrl: 'idp' }],
    ['no client', { clientId: '' }],
    ['an empty secret', { clientSecret: '' }],
    ['scopes that are no sign-in', { scopes: 'email' }],
    ['a domain that is none', { emailDomains: ['not a domain'] }],
  ])('reject %s', async (_what, over) => {
    expect((await north.write('POST', CONFIGS, { ...provider, ...over })).status).toBe(400);
    expect((await north.owner.get(CONFIGS)).body.total).toBe(0);
  });

  it('accept only the documented fields', async () => {
    const { status, body } = await north.write('POST', CONFIGS, {
      protocol: 'oidc',
      issuerUrl: 'https://idp.example',
      clientId: 'c',
    });
    expect([status, body.name, body.isEnabled, body.clientSecretConfigured]).toEqual([201, 'idp.example', true, false]);
  });

  it('are enabled one at a time', async () => {
    await created();
    expect((await north.write('POST', CONFIGS, provider)).status).toBe(409);
    const second = await created({ isEnabled: false });
    expect((await north.write('PUT', `${CONFIGS}/${second.id}`, { isEnabled: true })).status).toBe(409);
  });

  it('are enabled once when twenty are added at the same time', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => north.proof()));
    const answers = await Promise.all(
      tokens.map((token) => north.owner.post(CONFIGS, provider, { headers: { 'x-reauth-token': token } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await north.owner.get(CONFIGS)).body.configs).toHaveLength(1);
  });

  it('may be required only if one is enabled, and the last one stays while they are', async () => {
    const { id } = await created({ isEnabled: false });
    expect((await north.write('PUT', `${CONFIGS}/require`, { requireSso: true })).status).toBe(400);
    expect((await north.write('PUT', `${CONFIGS}/${id}`, { isEnabled: true })).status).toBe(200);
    expect((await north.write('PUT', `${CONFIGS}/require`, { requireSso: true })).status).toBe(200);
    expect((await north.owner.get(CONFIGS)).body.requireSso).toBe(true);
    expect((await north.write('DELETE', `${CONFIGS}/${id}`)).status).toBe(409);
    expect((await north.write('PUT', `${CONFIGS}/${id}`, { isEnabled: false })).status).toBe(409);
    expect((await north.write('PUT', `${CONFIGS}/require`, { requireSso: false })).status).toBe(200);
    expect((await north.write('DELETE', `${CONFIGS}/${id}`)).status).toBe(204);
    expect((await north.owner.get(`${CONFIGS}/${id}`)).status).toBe(404);
  });

  it('may name a domain that another organization names too: naming proves nothing', async () => {
    const south = await newOrganization(app);
    await created();
    expect((await south.write('POST', CONFIGS, provider)).status).toBe(201);
  });

  it('of another organization are not found', async () => {
    const { id } = await created();
    const south = await newOrganization(app);
    expect((await south.owner.get(`${CONFIGS}/${id}`)).status).toBe(404);
    expect((await south.write('PUT', `${CONFIGS}/${id}`, { name: 'Mine' })).status).toBe(404);
    expect((await south.write('DELETE', `${CONFIGS}/${id}`)).status).toBe(404);
    expect((await south.owner.get(CONFIGS)).body).toEqual({ configs: [], total: 0, requireSso: false });
    expect((await north.owner.get(`${CONFIGS}/${randomUUID()}`)).status).toBe(404);
    expect((await north.owner.get(`${CONFIGS}/nonsense`)).status).toBe(404);
  });

  it('leave no secret in the log', async () => {
    await created();
    const { rows } = await app.services.database.owner.query('select data::text from events where tenant_id = $1', [
      north.organizationId,
    ]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    expect(JSON.stringify(rows)).not.toContain(north.email);
  });
});

describe('the connection test of an issuer over HTTP', () => {
  let app: TestApp;
  let issuer: string;
  let server: Server;
  let asked = 0;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      asked += 1;
      response.end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
        }),
      );
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((closed) => server.close(closed));
    await app?.close();
  });

  it('reaches a peer on this machine only in development', async () => {
    app = await startApp({ devMode: true });
    const developer = await newOrganization(app);
    const found = await developer.owner.post(`${CONFIGS}/test`, { issuerUrl: issuer, clientId: 'c' });
    expect([found.status, found.body]).toEqual([
      200,
      {
        success: true,
        message: expect.any(String),
        issuer,
        authorizationEndpoint: `${issuer}/auth`,
        tokenEndpoint: `${issuer}/token`,
        jwksUri: `${issuer}/jwks`,
      },
    ]);
    expect(asked).toBe(1);
    await app.close();

    app = await startApp();
    const { owner } = await newOrganization(app);
    for (const issuerUrl of [
      issuer,
      issuer.replace('http', 'https'),
      'https://169.254.169.254',
      'https://[::1]',
      'https://localhost',
    ]) {
      const refused = await owner.post(`${CONFIGS}/test`, { issuerUrl, clientId: 'c' });
      const fails = issuerUrl === 'https://localhost' ? [200, false] : [400, undefined];
      expect([refused.status, refused.body.success]).toEqual(fails);
    }
    expect((await owner.post(`${CONFIGS}/test`, { issuerUrl: 'file:///etc/passwd', clientId: 'c' })).status).toBe(400);
    expect(asked).toBe(1);
  });
});
