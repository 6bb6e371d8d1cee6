import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  ENTERPRISE_SCHEMA,
  ERROR_SCHEMA,
  filtered,
  GROUP_SCHEMA,
  newScimClient,
  patchBody,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

describe('what a SCIM client may see, say and name', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let one: Client;
  let other: Client;
  let ann: string;
  let foreign: string;
  const userOf = (userName: string, over: object = {}) => ({ body: { schemas: [USER_SCHEMA], userName, ...over } });
  const newUser = async (client: Client, userName: string, over: object = {}): Promise<string> => {
    const { status, body, text } = await client.post(SCIM_USERS, userOf(userName, over).body);
    expect([status, text]).toEqual([201, text]);
    return body.id as string;
  };
  const groupOf = (displayName: string, ...members: string[]) => ({
    schemas: [GROUP_SCHEMA],
    displayName,
    members: members.map((value) => ({ value })),
  });
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
    one = await scimAs(app, await newScimClient(tenant, { name: 'One' }));
    other = await scimAs(app, await newScimClient(tenant, { name: 'Other' }));
    ann = await newUser(one, 'ann@acme.example', { displayName: 'Ann', externalId: 'E-1' });
    foreign = await newUser(other, 'zoe@acme.example', { displayName: 'Zoe' });
  });
  afterAll(() => app.close());

  it('refuses members who are users of another client, and shows nothing of them', async () => {
    const made = await one.post(SCIM_GROUPS, groupOf('Mixed', ann, foreign));
    expect([made.status, made.body.scimType]).toEqual([400, 'invalidValue']);
    expect(made.text).not.toContain('Zoe');
    const own = await one.post(SCIM_GROUPS, groupOf('Mixed', ann));
    expect([own.status, own.body.members]).toMatchObject([201, [{ value: ann, display: 'Ann' }]]);
    const add = { op: 'add', path: 'members', value: [{ value: foreign }] };
    const patched = await one.send('PATCH', `${SCIM_GROUPS}/${own.body.id as string}`, patchBody(add));
    expect([patched.status, patched.body.scimType]).toEqual([400, 'invalidValue']);
    const put = await one.put(`${SCIM_GROUPS}/${own.body.id as string}`, groupOf('Mixed', foreign));
    expect(put.status).toBe(400);
    expect((await one.get(filtered(SCIM_GROUPS, `members.value eq "${foreign}"`))).body.totalResults).toBe(0);
  });

  it('refuses the cursor of another list and of another client', async () => {
    await newUser(one, 'ben@acme.example');
    await newUser(other, 'yan@acme.example');
    const cursorOf = async (client: Client, path: string, more = '') =>
      (await client.get(`${path}?cursor=&count=1${more}`)).body.nextCursor as string;
    const cursor = await cursorOf(one, SCIM_USERS);
    expect((await one.get(`${SCIM_USERS}?cursor=${cursor}`)).status).toBe(200);
    for (const [client, path] of [
      [other, SCIM_USERS],
      [one, SCIM_GROUPS],
    ] as const) {
      const { status, body } = await client.get(`${path}?cursor=${cursor}`);
      expect([status, body.scimType]).toEqual([400, 'invalidCursor']);
    }
  });

  it('names the attribute that is taken', async () => {
    const repeated = await one.post(SCIM_USERS, userOf('eve@acme.example', { externalId: 'E-1' }).body);
    expect([repeated.status, repeated.body.scimType]).toEqual([409, 'uniqueness']);
    expect(repeated.body.detail).toMatch(/externalId$/);
    const named = await one.post(SCIM_USERS, userOf('ANN@acme.example').body);
    expect([named.status, named.body.detail]).toEqual([409, expect.stringMatching(/userName$/)]);
  });

  it('understands a manager in a list of one, and chooses none of several', async () => {
    const manager = [{ $ref: '../Users/7', value: '7' }];
    const created = await one.post(SCIM_USERS, userOf('fay@acme.example', { [ENTERPRISE_SCHEMA]: { manager } }).body);
    expect([created.status, created.body[ENTERPRISE_SCHEMA].manager.value]).toEqual([201, '7']);
    const at = `${SCIM_USERS}/${created.body.id as string}`;
    const path = `${ENTERPRISE_SCHEMA}:manager`;
    const patched = await one.send(
      'PATCH',
      at,
      patchBody({ op: 'Add', path, value: [{ $ref: '../Users/8', value: '8' }] }),
    );
    expect([patched.status, patched.body[ENTERPRISE_SCHEMA].manager.value]).toEqual([200, '8']);
    const several = await one.send(
      'PATCH',
      at,
      patchBody({ op: 'Add', path, value: [{ value: '1' }, { value: '2' }] }),
    );
    expect([several.status, several.body.scimType]).toEqual([400, 'invalidValue']);
  });

  it.each([
    ['DELETE', SCIM_USERS, 'GET, HEAD, POST'],
    ['PATCH', SCIM_GROUPS, 'GET, HEAD, POST'],
    ['PUT', '/scim/v2/ServiceProviderConfig', 'GET, HEAD'],
    ['GET', `${SCIM_USERS}/.search`, undefined],
    ['POST', `${SCIM_USERS}/7d3a5b1e-0000-4000-8000-000000000000`, 'DELETE, GET, HEAD, PATCH, PUT'],
    ['DELETE', '/scim/v2/Schemas/x', 'GET, HEAD'],
    ['OPTIONS', SCIM_USERS, 'GET, HEAD, POST'],
  ])('refuses %s %s as a method that the path does not have', async (method, path, allow) => {
    const response = await fetch(`${app.url}${path}`, {
      method,
      ...(method === 'GET' ? {} : { body: 'no JSON', headers: { 'content-type': 'application/scim+json' } }),
    });
    const body = (await response.json()) as { schemas: string[]; status: string };
    if (allow === undefined) return expect(response.status).toBeLessThan(500);
    expect([response.status, response.headers.get('allow'), body.schemas, body.status]).toEqual([
      405,
      allow,
      [ERROR_SCHEMA],
      '405',
    ]);
    expect(response.headers.get('content-type')).toContain('application/scim+json');
  });

  it.each([
    ['GET', '/oauth/token', 'POST'],
    ['DELETE', '/oauth/revoke', 'POST'],
    ['OPTIONS', '/oauth/token', 'POST'],
    ['POST', '/.well-known/oauth-authorization-server', 'GET, HEAD'],
  ])('refuses %s %s in the words of OAuth', async (method, path, allow) => {
    const response = await fetch(`${app.url}${path}`, { method });
    expect([response.status, response.headers.get('allow'), await response.json()]).toEqual([
      405,
      allow,
      {
        error: 'invalid_request',
        errorDescription: 'the method is not allowed',
        error_description: 'the method is not allowed',
      },
    ]);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  it('takes a group as large as one request may name, with all that providers say of members', async () => {
    const member = userOf('large@acme.example');
    const { body: person } = await one.post(SCIM_USERS, member.body);
    const members = Array.from({ length: 20_000 }, () => ({
      value: person.id as string,
      $ref: `https://castellan.example/scim/v2/Users/${person.id as string}`,
      type: 'User',
      display: 'Somebody With A Name Of Usual Length',
    }));
    const made = await one.post(SCIM_GROUPS, { ...groupOf('Large'), members });
    expect([made.status, made.body.members?.length]).toEqual([201, 1]);
    const beyond = await one.post(SCIM_GROUPS, { ...groupOf('Larger'), members: [...members, members[0]!] });
    expect([beyond.status, beyond.body.scimType]).toEqual([400, 'invalidValue']);
  });

  it('leaves the group of a deleted client to administrators, with its name', async () => {
    const leaving = await newScimClient(tenant, { name: 'Leaving' });
    const before = await scimAs(app, leaving);
    const made = await before.post(SCIM_GROUPS, groupOf('Sales'));
    expect(made.status).toBe(201);
    expect((await tenant.admin.delete(`/api/v1/admin/scim/clients/${leaving.clientId}`)).status).toBe(204);
    await app.settled();
    const refused = await one.post(SCIM_GROUPS, groupOf('sales'));
    expect([refused.status, refused.body.scimType]).toEqual([409, 'uniqueness']);
    const group = `/api/v1/admin/groups/${made.body.id as string}`;
    await expect.poll(async () => (await tenant.admin.get(group)).body.source, { timeout: 20_000 }).toBe('manual');
    expect((await tenant.admin.delete(group)).status).toBe(204);
    expect((await one.post(SCIM_GROUPS, groupOf('sales'))).status).toBe(201);
  });

  it('OP-566 refuses a request whose schemas name another message', async () => {
    const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
    const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
    for (const schemas of [['urn:wrong'], 'x', [GROUP], 7, {}]) {
      const refused = await one.post(SCIM_USERS, { schemas, userName: 'wrong@acme.example' });
      expect([refused.status, refused.body.scimType], JSON.stringify(schemas)).toEqual([400, 'invalidValue']);
    }
    expect((await one.post(SCIM_GROUPS, { schemas: [USER], displayName: 'Wrong' })).status).toBe(400);
    const made = await one.post(SCIM_USERS, { schemas: [USER.toUpperCase()], userName: 'right@acme.example' });
    expect(made.status).toBe(201);
    const path = `${SCIM_USERS}/${made.body.id as string}`;
    const Operations = [{ op: 'replace', path: 'title', value: 'Changed' }];
    for (const schemas of [['urn:wrong'], [USER]]) {
      const patched = await one.send('PATCH', path, { body: { schemas, Operations } });
      expect([patched.status, patched.body.scimType]).toEqual([400, 'invalidValue']);
    }
    expect((await one.put(path, { schemas: ['urn:wrong'], userName: 'right@acme.example' })).status).toBe(400);
    expect((await one.get(path)).body.title).toBeUndefined();
    expect((await one.send('PATCH', path, { body: { Operations } })).status).toBe(200);
  });

  it('RFC 7644 §4 takes no filter where descriptions are read', async () => {
    const { body } = await one.get('/scim/v2/Schemas');
    for (const path of [
      '/ResourceTypes',
      '/ResourceTypes/User',
      '/Schemas',
      `/Schemas/${body.Resources[0].id as string}`,
    ]) {
      const refused = await one.get(`/scim/v2${path}?filter=${encodeURIComponent('name eq "User"')}`);
      expect(refused.status, path).toBe(403);
    }
  });

  it('refuses an order that there is not', async () => {
    const bogus = await one.get(`${SCIM_USERS}?sortBy=userName&sortOrder=bogus`);
    expect([bogus.status, bogus.body.scimType]).toEqual([400, 'invalidValue']);
    expect((await one.get(`${SCIM_USERS}?sortBy=userName&sortOrder=Descending`)).status).toBe(200);
    const searched = await one.post(`${SCIM_USERS}/.search`, { sortBy: 'userName', sortOrder: 'up' });
    expect(searched.status).toBe(400);
  });
});
