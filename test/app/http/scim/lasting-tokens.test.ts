import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpClient, sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { askForToken, newScimClient, SCIM_USERS, USER_SCHEMA, type TestScimClient } from '../../../dsl/scim.ts';

const BASE = '/api/v1/admin/scim/clients';

/** Okta's modes "Header" and "Bearer", and every connector with one field for a token. */
describe('a lasting token of a SCIM client', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let client: TestScimClient;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const lasting = ({ clientId, clientSecret }: Pick<TestScimClient, 'clientId' | 'clientSecret'>) =>
    `${clientId}.${clientSecret}`;
  const as = (token: string, scheme = 'Bearer ') =>
    httpClient(app.url, { authorization: scheme + token, 'content-type': 'application/scim+json' });
  const status = async (token: string, scheme?: string) =>
    (await as(token, scheme).get(`${SCIM_USERS}?startIndex=1&count=2`)).status;
  beforeAll(async () => void (client = await newScimClient(tenant, { profile: 'okta' })));

  it('OP-594: is the id and the secret of the client, and needs no request for a token', async () => {
    const okta = as(lasting(client));
    const made = await okta.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName: 'ann@lasting.example' });
    expect(made.status).toBe(201);
    const { body } = await as((await askForToken(app, client)).body.accessToken as string).get(SCIM_USERS);
    expect(body.Resources).toMatchObject([{ id: made.body.id, userName: 'ann@lasting.example' }]);
    const { clients } = (await tenant.admin.get(BASE)).body;
    expect(clients[0]).toMatchObject({ id: client.id, lastUsedAt: expect.any(String) });
  });

  it('may be pasted with a blank before it', async () => {
    expect(await status(lasting(client), 'Bearer  ')).toBe(200);
  });

  it('has the scopes of its client', async () => {
    const reader = await newScimClient(tenant, { scopes: ['scim:read'] });
    expect(await status(lasting(reader))).toBe(200);
    expect((await as(lasting(reader)).post(SCIM_USERS, { userName: 'x@lasting.example' })).status).toBe(403);
  });

  it('is neither the secret alone, nor that of another client, nor one with something added', async () => {
    const other = await newScimClient(await app.newTenant());
    for (const token of [
      client.clientSecret,
      client.clientId,
      `${client.clientId}.`,
      `.${client.clientSecret}`,
      `${client.clientId}.${other.clientSecret}`,
      `${other.clientId}.${client.clientSecret}`,
      `${lasting(client)}.x`,
      `${client.id}.${client.clientSecret}`,
    ])
      expect([token, await status(token)]).toEqual([token, 401]);
    expect(await status(Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64'), 'Basic ')).toBe(
      401,
    );
  });

  it('opens nothing but SCIM', async () => {
    expect((await as(lasting(client)).get('/api/v1/admin/users')).status).toBe(401);
    const { clientId, clientSecret } = client;
    const asked = { token: lasting(client), clientId, clientSecret };
    expect((await app.anonymous.post('/oauth/introspect', asked)).body).toEqual({ active: false });
  });

  it('ends with its secret, and with its client', async () => {
    const rotated = await newScimClient(tenant, { name: 'Rotated' });
    const second = await tenant.admin.post(`${BASE}/${rotated.clientId}/secrets`, {});
    const next = lasting({ clientId: rotated.clientId, clientSecret: second.body.clientSecret as string });
    expect([await status(lasting(rotated)), await status(next)]).toEqual([200, 200]);
    await tenant.admin.delete(`${BASE}/${rotated.clientId}/secrets/${rotated.secretId}`);
    expect([await status(lasting(rotated)), await status(next)]).toEqual([401, 200]);
    await tenant.admin.delete(`${BASE}/${rotated.clientId}`);
    expect(await status(next)).toBe(401);
  });

  it('is in no event', async () => {
    const { rows } = await app.services.database.owner.query(
      'select 1 from events where strpos(data::text, $1) > 0 limit 1',
      [client.clientSecret],
    );
    expect(rows).toEqual([]);
  });
});
