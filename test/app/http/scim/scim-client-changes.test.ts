import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { httpClient, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  askForToken,
  newScimClient,
  patchBody,
  scimAs,
  SCIM_USERS,
  USER_SCHEMA,
  type TestScimClient,
} from '../../../dsl/scim.ts';

const BASE = '/api/v1/admin/scim/clients';

describe('OP-600: a SCIM client is changed', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const patch = ({ clientId }: Pick<TestScimClient, 'clientId'>, body: unknown, as = tenant.admin) =>
    as.send('PATCH', `${BASE}/${clientId}`, { body });
  const shown = async ({ clientId }: TestScimClient) =>
    (await tenant.admin.get(BASE)).body.clients.find((each: { clientId: string }) => each.clientId === clientId);
  const lasting = ({ clientId, clientSecret }: TestScimClient) =>
    httpClient(app.url, {
      authorization: `Bearer ${clientId}.${clientSecret}`,
      'content-type': 'application/scim+json',
    });
  const user = (userName: string) => ({ schemas: [USER_SCHEMA], userName });

  it('returns the client as the list has it, with what was named and all else as it was', async () => {
    const client = await newScimClient(tenant, { profile: 'entra' });
    await askForToken(app, client);
    const before = await shown(client);
    const wanted = { name: 'Okta', profile: 'okta', scopes: ['scim:read', 'scim:write'] };
    const changed = await patch(client, { ...wanted, name: ' Okta ' });
    expect([changed.status, changed.body]).toEqual([200, { ...before, ...wanted }]);
    expect(changed.body.lastUsedAt).not.toBeNull();
    expect(await shown(client)).toEqual(changed.body);
    expect((await patch(client, {})).body).toEqual(changed.body);
  });

  it('forgives what the new profile forgives from the next request on', async () => {
    const client = await newScimClient(tenant, { profile: 'okta' });
    const scim = await scimAs(app, client);
    const { id } = (await scim.post(SCIM_USERS, user('profile@changes.example'))).body;
    const unknown = patchBody({ op: 'replace', path: 'costCentre', value: '7' });
    expect((await scim.send('PATCH', `${SCIM_USERS}/${id}`, unknown)).status).toBe(400);
    await patch(client, { profile: 'entra' });
    expect((await scim.send('PATCH', `${SCIM_USERS}/${id}`, unknown)).status).toBe(200);
    expect((await scim.get(`${SCIM_USERS}/${id}`)).status).toBe(200);
  });

  it('takes a scope from tokens that have it, at once and on every process', async () => {
    const other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
    try {
      const client = await newScimClient(tenant);
      const { clientId, clientSecret } = client;
      const token = (await askForToken(app, client)).body.accessToken as string;
      const writes = () =>
        Promise.all(
          [app.url, other.addresses.http].flatMap((url) =>
            [token, `${clientId}.${clientSecret}`].map(async (each) => {
              const scim = httpClient(url, {
                authorization: `Bearer ${each}`,
                'content-type': 'application/scim+json',
              });
              return (await scim.post(SCIM_USERS, {})).status;
            }),
          ),
        );
      expect(await writes()).toEqual([400, 400, 400, 400]);
      await patch(client, { scopes: ['scim:read'] });
      await expect.poll(writes).toEqual([403, 403, 403, 403]);
      const asked = { token, clientId, clientSecret };
      expect((await app.anonymous.post('/oauth/introspect', asked)).body).toMatchObject({
        active: true,
        scope: 'scim:read',
      });
      expect((await askForToken(app, client, { scope: 'scim:write' })).body.error).toBe('invalid_scope');
      expect((await lasting(client).get(SCIM_USERS)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it('adds a scope to lasting tokens at once, and to others when the next one is issued', async () => {
    const client = await newScimClient(tenant, { scopes: ['scim:read'] });
    const before = await scimAs(app, client);
    expect((await lasting(client).post(SCIM_USERS, user('a@changes.example'))).status).toBe(403);
    await patch(client, { scopes: ['scim:write', 'scim:read'] });
    expect((await lasting(client).post(SCIM_USERS, user('a@changes.example'))).status).toBe(201);
    expect((await before.post(SCIM_USERS, user('b@changes.example'))).status).toBe(403);
    const after = await scimAs(app, client);
    expect((await after.post(SCIM_USERS, user('b@changes.example'))).status).toBe(201);
  });

  it('needs what creating a client needs', async () => {
    const client = await newScimClient(tenant, { scopes: ['scim:read'] });
    const unproved = await patch(client, { name: 'x' }, app.as(tenant.token));
    expect([unproved.status, unproved.body.code]).toEqual([403, 'reauthentication_required']);
    const { client: analyst } = await app.adminWithRole(tenant, 'analyst');
    expect((await patch(client, { name: 'x' }, analyst)).status).toBe(403);
    expect((await patch(client, { name: 'x' }, app.anonymous)).status).toBe(401);
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes.0'],
    [{ scopes: ['scim:read', 'scim:read', 'scim:read'] }, 'scopes'],
    [{ profile: 'other' }, 'profile'],
  ])('refuses %j and names the field', async (body, field) => {
    const client = await newScimClient(tenant);
    const refused = await patch(client, body);
    expect([refused.status, refused.body.fields.map((each: { field: string }) => each.field)]).toEqual([400, [field]]);
  });

  it('finds no client of another tenant, and none that was deleted', async () => {
    const foreign = await newScimClient(await app.newTenant(), { name: 'Theirs' });
    expect((await patch(foreign, { name: 'Ours' })).status).toBe(404);
    expect((await patch({ clientId: 'nonsense' }, { name: 'Ours' })).status).toBe(404);
    const deleted = await newScimClient(tenant);
    await tenant.admin.delete(`${BASE}/${deleted.clientId}`);
    expect((await patch(deleted, { name: 'Ours' })).status).toBe(404);
  });

  it('writes what changed into the audit log, and raises an alert if the client may do more', async () => {
    const watched = await app.newTenant();
    const client = await newScimClient(watched, { scopes: ['scim:read'] });
    await patch(client, { name: 'Renamed' }, watched.admin);
    await patch(client, { name: 'Renamed' }, watched.admin);
    await patch(client, { scopes: ['scim:read', 'scim:write'] }, watched.admin);
    await patch(client, { scopes: ['scim:write'] }, watched.admin);
    await app.settled();
    const { body } = await watched.admin.get('/api/v1/admin/audit-log?action=scim_client.changed');
    const entries = body.auditLogs.map((entry: Record<string, unknown>) => [entry['resourceId'], entry['details']]);
    expect(entries.toReversed()).toEqual([
      [client.id, { clientId: client.id, name: 'Renamed', isWidened: false }],
      [client.id, { clientId: client.id, scopes: ['scim:read', 'scim:write'], isWidened: true }],
      [client.id, { clientId: client.id, scopes: ['scim:write'], isWidened: false }],
    ]);
    const titles = async () =>
      (await watched.admin.get('/api/v1/admin/alerts')).body.alerts.map(({ title }: { title: string }) => title);
    await expect
      .poll(titles)
      .toEqual(expect.arrayContaining(['A client that provisions people was given more scopes']));
    expect((await titles()).filter((title: string) => title.includes('more scopes'))).toHaveLength(1);
  });
});
