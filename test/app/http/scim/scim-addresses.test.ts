import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { GROUP_SCHEMA, newScimClient, SCIM_GROUPS, SCIM_USERS, scimAs, USER_SCHEMA } from '../../../dsl/scim.ts';

const METADATA = '/.well-known/oauth-authorization-server';

/** What the client calls the service is not where the service is: a proxy may rename it, and anybody may lie. */
describe('OP-573: addresses in responses are those of the tenant, whatever the Host header says', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let scim: Client;
  let authorization: string;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant({ externalBaseUrl: 'https://id.acme.example/castellan' });
    const client = await newScimClient(tenant);
    scim = await scimAs(app, client);
    const { clientId, clientSecret } = client;
    const body = { grantType: 'client_credentials', clientId, clientSecret };
    authorization = `Bearer ${(await app.anonymous.post('/oauth/token', body)).body.accessToken as string}`;
  });
  afterAll(() => app.close());

  /** `fetch` sends no other Host than that of the address. */
  async function hostile(method: string, path: string, body?: object, host = 'evil.example') {
    const headers = { host, authorization, 'content-type': 'application/scim+json', 'x-forwarded-host': host };
    const sent = request(`${app.url}${path}`, { method, headers });
    sent.end(body && JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    return { status: response.statusCode, location: response.headers.location, text: await text(response) };
  }
  const BASE = 'https://id.acme.example/castellan';

  it('in Location, meta.location and $ref of users and groups, and in lists', async () => {
    const made = await hostile('POST', SCIM_USERS, { schemas: [USER_SCHEMA], userName: 'ann@acme.example' });
    const { id, meta } = JSON.parse(made.text) as { id: string; meta: { location: string } };
    expect([made.status, made.location, meta.location]).toEqual([
      201,
      `${BASE}${SCIM_USERS}/${id}`,
      `${BASE}${SCIM_USERS}/${id}`,
    ]);
    const group = { schemas: [GROUP_SCHEMA], displayName: 'Sales', members: [{ value: id }] };
    const grouped = await hostile('POST', SCIM_GROUPS, group);
    const { members, id: groupId } = JSON.parse(grouped.text) as { members: { $ref: string }[]; id: string };
    expect(members[0]!.$ref).toBe(`${BASE}${SCIM_USERS}/${id}`);
    const { body } = await scim.get(`${SCIM_USERS}/${id}`);
    expect([body.meta.location, body.groups[0].$ref]).toEqual([
      `${BASE}${SCIM_USERS}/${id}`,
      `${BASE}${SCIM_GROUPS}/${groupId}`,
    ]);
  });

  it.each([
    '/scim/v2/Users',
    '/scim/v2/Groups',
    '/scim/v2/Schemas',
    '/scim/v2/ResourceTypes',
    '/scim/v2/ServiceProviderConfig',
  ])('in %s', async (path) => {
    const { status, text: body } = await hostile('GET', path);
    expect([status, body.includes('evil.example'), body.includes(BASE)]).toEqual([200, false, true]);
  });

  it('and follow a change of the base URL', async () => {
    const other = await app.newTenant({ externalBaseUrl: 'https://before.example' });
    const client = await scimAs(app, await newScimClient(other));
    const changed = await other.admin.put('/api/v1/admin/settings/external-base-url', {
      externalBaseUrl: 'https://after.example',
    });
    expect(changed.status).toBe(200);
    const { body } = await client.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName: 'x@after.example' });
    expect(body.meta.location).toBe(`https://after.example${SCIM_USERS}/${body.id}`);
  });
});

describe('OP-574: the authorization server describes itself at an address of its tenants', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());
  const issuerAt = async (host: string) => {
    const sent = request(`${app.url}${METADATA}`, { headers: { host } });
    sent.end();
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    const body = JSON.parse(await text(response)) as { issuer?: string; token_endpoint?: string };
    return [response.statusCode, body.issuer, body.token_endpoint];
  };
  const at = (base: string) => [200, base, `${base}/oauth/token`];

  it('the only one, or the one that the caller named; nobody else’s', async () => {
    expect(await issuerAt('evil.example')).toEqual([404, undefined, undefined]);
    await app.newTenant({ externalBaseUrl: 'https://one.example' });
    await app.newTenant({ externalBaseUrl: 'https://one.example' });
    expect(await issuerAt('evil.example')).toEqual(at('https://one.example'));
    const moved = await app.newTenant({ externalBaseUrl: 'https://Two.example:8443/castellan' });
    expect(await issuerAt('two.example:8443')).toEqual(at('https://Two.example:8443/castellan'));
    expect(await issuerAt('ONE.example')).toEqual(at('https://one.example'));
    expect(await issuerAt('one.example:443')).toEqual(at('https://one.example'));
    expect(await issuerAt('evil.example')).toEqual([404, undefined, undefined]);
    const changed = await moved.admin.put('/api/v1/admin/settings/external-base-url', {
      externalBaseUrl: 'https://three.example',
    });
    expect(changed.status).toBe(200);
    expect(await issuerAt('three.example')).toEqual(at('https://three.example'));
    expect(await issuerAt('two.example:8443')).toEqual([404, undefined, undefined]);
  });
});
