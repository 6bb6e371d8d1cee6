import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteScimClient } from '../../../../commands/scim/delete-scim-client.ts';
import { liveScimToken } from '../../../../src/contexts/scim/live-token.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  askForToken,
  GROUP_SCHEMA,
  newScimClient,
  scimAs,
  SCIM_GROUPS,
  SCIM_USERS,
  USER_SCHEMA,
  type TestScimClient,
} from '../../../dsl/scim.ts';

const BASE = '/api/v1/admin/scim/clients';

describe('SCIM clients', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const isActive = async (
    token: string,
    { clientId, clientSecret }: Pick<TestScimClient, 'clientId' | 'clientSecret'>,
  ) => (await app.anonymous.post('/oauth/introspect', { token, clientId, clientSecret })).body.active as boolean;

  it('OP-220, F262: the secret is shown when the client is created, and never again', async () => {
    const made = await tenant.admin.post(BASE, { name: ' Okta ', scopes: ['scim:read'], profile: 'okta' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        clientId: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        clientSecret: expect.any(String),
        name: 'Okta',
        scopes: ['scim:read'],
        profile: 'okta',
        credentials: [
          { id: expect.any(String), createdAt: expect.any(String), createdBy: tenant.adminId, expiresAt: null },
        ],
        createdAt: expect.any(String),
        createdBy: tenant.adminId,
        lastUsedAt: null,
        lastRefusedAt: null,
        lastRefusal: null,
      },
    ]);
    const { clientSecret, ...shown } = made.body;
    const listed = await tenant.admin.get(BASE);
    expect(listed.body.clients).toContainEqual(shown);
    expect(listed.text).not.toContain(clientSecret);
  });

  it.each(['9999-12-31T23:59:59-14:00', '1969-12-31T23:59:59Z', '2026-02-30T00:00:00Z'])(
    'does not expire at %s, which names the field and leaves nothing',
    async (expiresAt) => {
      const before = (await tenant.admin.get(BASE)).body.total;
      const refused = await tenant.admin.post(BASE, { name: 'Never', expiresAt });
      expect([refused.status, refused.body.fields?.[0]?.field]).toEqual([400, 'expiresAt']);
      expect((await tenant.admin.get(BASE)).body.total).toBe(before);
    },
  );

  it('a new client may read and write, and forgives what any product sends', async () => {
    const { body } = await tenant.admin.post(BASE, { name: 'Any' });
    expect(body).toMatchObject({ scopes: ['scim:read', 'scim:write'], profile: 'generic' });
  });

  it('needs a fresh proof, and an administrator', async () => {
    const plain = app.as(tenant.token);
    const { clientId, secretId } = await newScimClient(tenant);
    for (const refused of [
      await plain.post(BASE, { name: 'x' }),
      await plain.post(`${BASE}/${clientId}/secrets`),
      await plain.delete(`${BASE}/${clientId}/secrets/${secretId}`),
      await plain.delete(`${BASE}/${clientId}`),
    ])
      expect([refused.status, refused.body.code]).toEqual([403, 'reauthentication_required']);
    const { client: analyst } = await app.adminWithRole(tenant, 'analyst');
    expect((await analyst.get(BASE)).status).toBe(403);
  });

  it.each([
    [{ name: '' }],
    [{ name: 'x', scopes: [] }],
    [{ name: 'x', scopes: ['admin'] }],
    [{ name: 'x', profile: 'other' }],
    [{ name: 'x', expiresAt: '2020-01-01T00:00:00Z' }],
    [{ name: 'x', expiresAt: 'tomorrow' }],
  ])('refuses %j', async (body) => {
    expect((await tenant.admin.post(BASE, body)).status).toBe(400);
  });

  it('shows when a client was last seen, to the minute', async () => {
    const client = await newScimClient(tenant);
    await askForToken(app, client);
    const { clients } = (await tenant.admin.get(BASE)).body;
    const { lastUsedAt } = clients.find((each: { clientId: string }) => each.clientId === client.clientId);
    expect(lastUsedAt).toMatch(/:00\.000Z$/);
    expect(Date.now() - Date.parse(lastUsedAt)).toBeLessThan(180_000);
  });

  it('gets no token that says it lives longer than its secret (RFC 6749 §5.1, RFC 7662 §2.2)', async () => {
    const expiresAt = new Date(Date.now() + 120_000).toISOString();
    const { body } = await tenant.admin.post(BASE, { name: 'Short', expiresAt });
    const client = { clientId: body.clientId as string, clientSecret: body.clientSecret as string };
    const { body: issued } = await askForToken(app, client);
    expect(issued.expiresIn).toBeGreaterThan(60);
    expect(issued.expiresIn).toBeLessThanOrEqual(120);
    const { body: seen } = await app.anonymous.post('/oauth/introspect', { ...client, token: issued.accessToken });
    expect(seen).toMatchObject({ active: true });
    expect(seen.exp * 1_000).toBeLessThanOrEqual(Date.parse(expiresAt) + 1_000);
  });

  it('rotates: two live secrets, then the first is removed with its tokens', async () => {
    const first = await newScimClient(tenant);
    const path = `${BASE}/${first.clientId}/secrets`;
    const added = await tenant.admin.post(path, { expiresAt: '2999-01-01T00:00:00+01:00' });
    expect([added.status, added.body]).toEqual([
      201,
      {
        id: expect.any(String),
        clientSecret: expect.any(String),
        createdAt: expect.any(String),
        expiresAt: '2998-12-31T23:00:00.000Z',
      },
    ]);
    const second = { clientId: first.clientId, clientSecret: added.body.clientSecret as string };
    expect((await tenant.admin.post(path)).body.code).toBe('limit_reached');
    const [old, fresh] = [
      (await askForToken(app, first)).body.accessToken,
      (await askForToken(app, second)).body.accessToken,
    ];
    expect((await tenant.admin.delete(`${path}/${first.secretId}`)).status).toBe(204);
    expect((await tenant.admin.delete(`${path}/${first.secretId}`)).status).toBe(404);
    expect((await askForToken(app, first)).body.error).toBe('invalid_client');
    expect([await isActive(old, second), await isActive(fresh, second)]).toEqual([false, true]);
  });

  it('F263: a deleted client gets no tokens, and those that it has end', async () => {
    const client = await newScimClient(tenant);
    expect((await askForToken(app, client)).status).toBe(200);
    expect((await tenant.admin.delete(`${BASE}/${client.clientId}`)).status).toBe(204);
    expect((await askForToken(app, client)).body.error).toBe('invalid_client');
    expect((await tenant.admin.delete(`${BASE}/${client.clientId}`)).status).toBe(404);
    const { rows } = await app.services.database.owner.query(
      'select from scim_tokens where tenant_id = $1 and client_id = $2',
      [tenant.tenantId, client.id],
    );
    expect(rows).toEqual([]);
  });

  it('finds no client of another tenant', async () => {
    const client = await newScimClient(await app.newTenant());
    for (const name of [client.clientId, 'nonsense', `${client.clientId}A`]) {
      expect((await tenant.admin.delete(`${BASE}/${name}`)).status).toBe(404);
      expect((await tenant.admin.post(`${BASE}/${name}/secrets`)).status).toBe(404);
      expect((await tenant.admin.delete(`${BASE}/${name}/secrets/${client.secretId}`)).status).toBe(404);
    }
    expect((await askForToken(app, client)).status).toBe(200);
    expect((await tenant.admin.get(BASE)).text).not.toContain(client.clientId);
  });

  it('has at most fifty clients', async () => {
    const crowded = await app.newTenant();
    for (let each = 0; each < 50; each += 1) await newScimClient(crowded);
    const refused = await crowded.admin.post(BASE, { name: 'One more' });
    expect([refused.status, refused.body.code]).toEqual([409, 'limit_reached']);
  });

  it('writes the audit log', async () => {
    const other = await app.newTenant();
    const client = await newScimClient(other, { name: 'Watched' });
    await other.admin.post(`${BASE}/${client.clientId}/secrets`);
    await other.admin.delete(`${BASE}/${client.clientId}`);
    await app.settled();
    const log = await other.admin.get('/api/v1/admin/audit-log');
    for (const action of ['scim_client.created', 'scim_client.secret_issued', 'scim_client.deleted'])
      expect(log.text).toContain(action);
    expect(log.text).not.toContain(client.clientSecret);
  });
});

describe('a client whose events alone say that it ended', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await startApp()));
  afterAll(() => app.close());

  it('has no live token, although the process died before it removed the tokens', async () => {
    const tenant = await app.newTenant();
    const [first, second] = [await newScimClient(tenant), await newScimClient(tenant)];
    const token = (await askForToken(app, first)).body.accessToken as string;
    const actor = { kind: 'admin', id: tenant.adminId } as const;
    const context = { tenantId: tenant.tenantId, actor };
    const { position } = orThrow(
      await app.services.executor.execute(deleteScimClient, { clientId: first.id }, context),
    );
    await app.services.freshness.waitFor(['live-state'], position!);
    const { clientId, clientSecret } = second;
    expect((await app.anonymous.post('/oauth/introspect', { token, clientId, clientSecret })).body).toEqual({
      active: false,
    });
    expect(await liveScimToken(token, app.services)).toBeUndefined();
  });
});

describe('people and groups of a deleted client', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await startApp()));
  afterAll(() => app.close());

  it('stay as they are, and the next client may provision them', async () => {
    const tenant = await app.newTenant();
    const [first, second] = [await newScimClient(tenant), await newScimClient(tenant)];
    const user = { schemas: [USER_SCHEMA], userName: 'mover@acme.example', displayName: 'Mover' };
    const asFirst = await scimAs(app, first);
    const { id } = (await asFirst.post(SCIM_USERS, user)).body;
    const group = { schemas: [GROUP_SCHEMA], displayName: 'Movers', members: [{ value: id }] };
    const { body: made } = await asFirst.post(SCIM_GROUPS, group);
    const asSecond = await scimAs(app, second);
    expect((await asSecond.post(SCIM_USERS, user)).status).toBe(409);
    expect((await tenant.admin.delete(`${BASE}/${first.clientId}`)).status).toBe(204);
    await expect
      .poll(async () => (await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.sources, { timeout: 20_000 })
      .toEqual([]);
    expect((await tenant.admin.get(`/api/v1/admin/users/${id}`)).body).toMatchObject({ displayName: 'Mover' });
    await expect
      .poll(async () => (await tenant.admin.get(`/api/v1/admin/groups/${made.id}`)).body.source, { timeout: 20_000 })
      .toBe('manual');
    const linked = await asSecond.post(SCIM_USERS, user);
    expect([linked.status, linked.body.id]).toEqual([201, id]);
  });
});
