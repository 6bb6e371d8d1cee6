import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attachTenantAsOperator, createOrganizationAsOperator } from '../../../../src/app/cli/organization-commands.ts';
import { loginStream } from '../../../../src/contexts/identity/domain/login.ts';
import { organization, organizationStream } from '../../../../src/contexts/organizations/domain/organization.ts';
import { findOrgAdmin } from '../../../../src/contexts/identity/org-sign-in.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';

const LOGIN = '/api/v1/org/auth/login';
const VERIFY = '/api/v1/org/verify-password';
const CONFIGS = '/api/v1/org/sso-configs';
const provider = { issuerUrl: 'https://idp.example', clientId: 'castellan', clientSecret: 'hush-hush' };

describe('the password login of an organization', () => {
  let app: TestApp;
  let north: TestOrganization;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    north = await newOrganization(app, 'North MSSP');
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('answers tokens and who they are for', async () => {
    const { status, body } = await app.anonymous.post(LOGIN, {
      email: north.email.toUpperCase(),
      password: north.password,
      slug: north.slug,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresAt: expect.any(String),
      user: {
        id: expect.any(String),
        email: north.email,
        displayName: north.email.split('@')[0],
        role: 'org_owner',
        organizationId: north.organizationId,
      },
    });
    expect((await app.as(body.accessToken).get(CONFIGS)).status).toBe(200);
  });

  it('answers unknown e-mail, wrong password and the slug of another organization alike', async () => {
    const south = await newOrganization(app);
    const attempts = [
      { email: `nobody-${randomUUID()}@mssp.example`, password: north.password },
      { email: north.email, password: 'Wrong-Horse-7!' },
      { email: north.email, password: north.password, slug: south.slug },
      { email: north.email, password: north.password, slug: 'no-such-organization' },
    ];
    for (const attempt of attempts) {
      const { status, body } = await app.anonymous.post(LOGIN, attempt);
      expect([status, body]).toEqual([401, expect.objectContaining({ error: 'invalid credentials' })]);
    }
  });

  it.each([
    {},
    { email: 'x@y.example' },
    { email: 'no address', password: 'long enough' },
    { email: 'x@y.example', password: 'short' },
  ])('refuses %j as malformed', async (body) => {
    expect((await app.anonymous.post(LOGIN, body)).status).toBe(400);
  });

  it('locks an account after five wrong passwords, and says so only to the right one', async () => {
    const { email, password } = await newOrganization(app);
    for (let turn = 0; turn < 5; turn += 1)
      expect((await app.anonymous.post(LOGIN, { email, password: 'Wrong-Horse-7!' })).status).toBe(401);
    expect((await app.anonymous.post(LOGIN, { email, password: 'Wrong-Horse-7!' })).status).toBe(401);
    const { status, body } = await app.anonymous.post(LOGIN, { email, password });
    expect([status, body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
  });

  const loginsOf = async (email: string) => {
    const { organizationId } = (await findOrgAdmin(app.services, app.services.accountDigest(email)))!;
    const tries = await app.services.store.readStream(loginStream(organizationId, app.services.accountDigest(email)), {
      from: 0n,
    });
    return tries.map(({ type }) => type);
  };

  it('is refused while single sign-on is required, to whoever knows the password; and works again after it', async () => {
    const { email, password, write } = await newOrganization(app);
    expect((await write('POST', CONFIGS, provider)).status).toBe(201);
    expect((await write('PUT', `${CONFIGS}/require`, { requireSso: true })).body).toEqual({ requireSso: true });
    const right = await app.anonymous.post(LOGIN, { email, password });
    expect([right.status, right.body]).toEqual([403, expect.objectContaining({ error: 'sso required' })]);
    // It is not the way in, but it was right: it takes nobody nearer to a lock.
    expect((await loginsOf(email)).at(-1)).toBe('PasswordConfirmed');
    expect((await app.anonymous.post(LOGIN, { email, password: 'Wrong-Horse-7!' })).status).toBe(401);
    expect((await write('PUT', `${CONFIGS}/require`, { requireSso: false })).status).toBe(200);
    expect((await app.anonymous.post(LOGIN, { email, password })).status).toBe(200);
  });

  it('confirms nothing in an older session while single sign-on is required', async () => {
    const { email, password, owner, reauthenticate, write } = await newOrganization(app);
    const created = await write('POST', '/api/v1/org/admins', {
      email: `new-${email}`,
      displayName: 'New',
      role: 'org_admin',
    });
    const { temporaryPassword } = created.body;
    const temp = await app.anonymous.post(LOGIN, { email: `new-${email}`, password: temporaryPassword });
    expect(temp.body.tempToken).toEqual(expect.any(String));
    expect((await write('POST', CONFIGS, provider)).status).toBe(201);
    const token = await reauthenticate();
    const required = await owner.put(
      `${CONFIGS}/require`,
      { requireSso: true },
      { headers: { 'x-reauth-token': token } },
    );
    expect(required.status).toBe(200);
    const verify = () => owner.post('/api/v1/org/verify-password', { password });
    const change = () =>
      owner.post('/api/v1/org/change-password', { currentPassword: password, newPassword: 'Other-Horse-9!' });
    for (const refused of [await verify(), await change()])
      expect([refused.status, refused.body.code]).toEqual([403, 'sso_required']);
    const forced = await app.anonymous.post('/api/v1/org/auth/change-password', {
      tempToken: temp.body.tempToken,
      newPassword: 'Other-Horse-9!',
      confirmPassword: 'Other-Horse-9!',
    });
    expect([forced.status, forced.body.code]).toEqual([401, 'invalid_token']);
    // The session itself lives on (OP-141).
    expect((await owner.get(CONFIGS)).status).toBe(200);
    expect((await write('PUT', `${CONFIGS}/require`, { requireSso: false })).status).toBe(200);
    expect([(await verify()).status, (await change()).status]).toEqual([200, 200]);
  });

  it('gives tokens that refresh once and end with the session', async () => {
    const { body } = await app.anonymous.post(LOGIN, { email: north.email, password: north.password });
    const refreshed = await app.anonymous.post('/api/v1/auth/refresh', { refreshToken: body.refreshToken });
    expect(refreshed.status).toBe(200);
    expect((await app.as(refreshed.body.accessToken).get(CONFIGS)).status).toBe(200);
    expect((await app.as(refreshed.body.accessToken).post('/api/v1/auth/logout')).status).toBe(200);
    expect((await app.as(refreshed.body.accessToken).get(CONFIGS)).status).toBe(401);
    expect((await app.as(body.accessToken).get(CONFIGS)).status).toBe(401);
  });

  it('gives tokens that no tenant takes, and takes no token of a tenant', async () => {
    expect((await north.owner.get('/api/v1/admin/me')).status).toBe(401);
    for (const [method, path] of [
      ['GET', CONFIGS],
      ['POST', CONFIGS],
      ['POST', VERIFY],
      ['PUT', `${CONFIGS}/require`],
    ] as const) {
      expect((await acme.admin.send(method, path, method === 'GET' ? {} : { body: {} })).status).toBe(401);
    }
  });

  it('of two organizations of one name gives each a slug of its own', async () => {
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, at) =>
        createOrganizationAsOperator(app.services, { name: 'Same Name', ownerEmail: `same-${at}@mssp.example` }),
      ),
    );
    expect(made.map(({ slug }) => slug).sort()).toEqual([
      'same-name',
      'same-name-2',
      'same-name-3',
      'same-name-4',
      'same-name-5',
    ]);
  });

  it('knows an e-mail in one organization only', async () => {
    await expect(
      createOrganizationAsOperator(app.services, { name: 'Other', ownerEmail: north.email }),
    ).rejects.toThrow('administers another organization');
  });

  it('knows a tenant in one organization only', async () => {
    const south = await newOrganization(app);
    await attachTenantAsOperator(app.services, { slug: north.slug, tenant: acme.tenantId });
    await attachTenantAsOperator(app.services, { slug: north.slug, tenant: acme.tenantId });
    await expect(attachTenantAsOperator(app.services, { slug: south.slug, tenant: acme.tenantId })).rejects.toThrow(
      'belongs to another organization',
    );
    await expect(attachTenantAsOperator(app.services, { slug: south.slug, tenant: randomUUID() })).rejects.toThrow(
      'no such tenant',
    );
    await expect(attachTenantAsOperator(app.services, { slug: 'nowhere', tenant: acme.tenantId })).rejects.toThrow(
      'no such organization',
    );
    const { tenants } = await app.services.loader.load(organization, organizationStream(north.organizationId));
    expect([...tenants]).toEqual([acme.tenantId]);
  });
});

describe('re-authentication in an organization', () => {
  let app: TestApp;
  let north: TestOrganization;
  beforeAll(async () => {
    app = await startApp();
    north = await newOrganization(app);
  });
  afterAll(() => app.close());

  const put = (token: string | undefined, client = north.owner) =>
    client.put(
      `${CONFIGS}/require`,
      { requireSso: false },
      token === undefined ? {} : { headers: { 'x-reauth-token': token } },
    );

  it('gives a token for 300 seconds to whoever knows the password', async () => {
    const { status, body } = await north.owner.post(VERIFY, { password: north.password });
    expect([status, body]).toEqual([200, { reAuthToken: expect.any(String), expiresIn: 300 }]);
    expect((await north.owner.post(VERIFY, { password: 'Wrong-Horse-7!' })).status).toBe(401);
  });

  it('is good for one write', async () => {
    const token = await north.reauthenticate();
    expect((await put(token)).status).toBe(200);
    const again = await put(token);
    const error = 're-authentication required';
    const fields = [{ field: 'X-ReAuth-Token', message: 'was used already: a token is for one write' }];
    expect([again.status, again.body]).toEqual([403, expect.objectContaining({ error, fields })]);
    // Only the session of a token learns that it was used.
    const { body } = await app.anonymous.post(LOGIN, { email: north.email, password: north.password });
    const elsewhere = await put(token, app.as(body.accessToken as string));
    expect([elsewhere.status, elsewhere.body]).toEqual([403, expect.objectContaining({ error, fields: [] })]);
    expect((await put(`${token.slice(0, -1)}x`)).body.fields).toEqual([]);
    expect((await put(undefined)).body.fields).toEqual([]);
  });

  it('is good for one of two hundred writes at once', async () => {
    const token = await north.reauthenticate();
    const answers = await Promise.all(Array.from({ length: 200 }, () => put(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(199);
  });

  it('is spent by a write that fails behind the gate', async () => {
    for (const [path, body, status] of [
      [`${CONFIGS}/${randomUUID()}`, {}, 404],
      [`${CONFIGS}/require`, { requireSso: 'perhaps' }, 400],
    ] as const) {
      const token = await north.proof();
      expect((await north.owner.put(path, body, { headers: { 'x-reauth-token': token } })).status).toBe(status);
      expect((await put(token)).status).toBe(403);
    }
  });

  it('belongs to the session in which it was given', async () => {
    const { body } = await app.anonymous.post(LOGIN, { email: north.email, password: north.password });
    expect((await put(await north.reauthenticate(), app.as(body.accessToken))).status).toBe(403);
    const south = await newOrganization(app);
    expect((await put(await south.reauthenticate())).status).toBe(403);
  });

  it('stands in the gate before anything is looked up: session, role, token, then what is asked for', async () => {
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    const admin = await orgAdminWithRole(app, north, 'org_admin');
    const writes = [
      ['POST', CONFIGS],
      ['PUT', `${CONFIGS}/require`],
      ['PUT', `${CONFIGS}/${randomUUID()}`],
      ['DELETE', `${CONFIGS}/${randomUUID()}`],
      ['PUT', `${CONFIGS}/not-an-id`],
    ] as const;
    for (const [method, path] of writes) {
      const asking = method === 'DELETE' ? {} : { body: { nonsense: true } };
      expect((await app.anonymous.send(method, path, asking)).status).toBe(401);
      for (const { client } of [viewer, admin]) {
        const refused = await client.send(method, path, asking);
        expect([refused.status, refused.body.error]).toEqual([403, 'insufficient permissions']);
      }
      const unproven = await north.owner.send(method, path, asking);
      expect([unproven.status, unproven.body.error]).toEqual([403, 're-authentication required']);
      const proven = await north.owner.send(method, path, {
        ...asking,
        headers: { 'x-reauth-token': await north.proof() },
      });
      expect([400, 404]).toContain(proven.status);
    }
    for (const { client } of [viewer, admin]) {
      expect((await client.get(CONFIGS)).status).toBe(200);
      expect((await client.post(`${CONFIGS}/test`, provider)).status).toBe(403);
    }
  });
});
