import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  GROUP_SCHEMA,
  newScimClient,
  patchBody,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

describe('OP-531: a member who is deleted', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let scim: Client;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    scim = await scimAs(app, await newScimClient(tenant));
  });
  afterAll(() => app.close());

  let number = 0;
  const user = async (userName = `former-${(number += 1)}@acme.example`): Promise<string> =>
    (await scim.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName })).body.id as string;
  const groupOf = async (...ids: readonly string[]): Promise<string> => {
    const members = ids.map((value) => ({ value }));
    const displayName = `Former ${(number += 1)}`;
    return (await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName, members })).body.id as string;
  };
  const shown = async (groupId: string) => {
    const { headers, body } = await scim.get(`${SCIM_GROUPS}/${groupId}`);
    const members = ((body.members ?? []) as { value: string }[]).map(({ value }) => value);
    return { tag: headers.get('etag')!, members };
  };

  it.each([
    ['by an administrator', (userId: string) => tenant.admin.delete(`/api/v1/admin/users/${userId}`)],
    ['with an erasure', (userId: string) => tenant.admin.delete(`/api/v1/admin/users/${userId}?erase=true`)],
    ['by the client', (userId: string) => scim.delete(`${SCIM_USERS}/${userId}`)],
  ])('%s leaves each of their groups, whose version rises', async (_how, remove) => {
    const [leaver, colleague] = [await user(), await user()];
    const groups = [await groupOf(leaver, colleague), await groupOf(leaver)];
    const before = await Promise.all(groups.map(shown));
    expect((await remove(leaver)).status).toBeLessThan(300);
    await expect
      .poll(async () => {
        const after = await Promise.all(groups.map(shown));
        return after.map(({ tag, members }, at) => [members, tag === before[at]!.tag]);
      })
      .toEqual([
        [[colleague], false],
        [[], false],
      ]);
    const stale = await scim.send('PATCH', `${SCIM_GROUPS}/${groups[0]}`, {
      ...patchBody({ op: 'replace', path: 'displayName', value: 'Too late' }),
      headers: { 'if-match': before[0]!.tag },
    });
    expect(stale.status).toBe(412);
  });

  it('returns to no group by itself', async () => {
    const userName = 'returns@acme.example';
    const leaver = await user(userName);
    const group = await groupOf(leaver);
    const { tag } = await shown(group);
    await scim.delete(`${SCIM_USERS}/${leaver}`);
    await expect.poll(async () => (await shown(group)).tag === tag).toBe(false);
    expect(await user(userName)).toBe(leaver);
    await app.settled();
    expect((await shown(group)).members).toEqual([]);
  });

  it("stays in other sources' groups while the employee exists", async () => {
    const leaver = await user();
    const name = `Manual ${(number += 1)}`;
    const { id } = (await tenant.admin.post('/api/v1/admin/groups', { name })).body;
    await tenant.admin.post(`/api/v1/admin/groups/${id}/members`, { userIds: [leaver] });
    const own = await groupOf(leaver);
    await scim.delete(`${SCIM_USERS}/${leaver}`);
    const count = async (groupId: string) =>
      (await tenant.admin.get(`/api/v1/admin/groups/${groupId}`)).body.memberCount as number;
    await expect.poll(() => count(own)).toBe(0);
    expect(await count(id as string)).toBe(1);
  });
});

describe('OP-575: a user who returns after a deletion', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let scim: Client;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    scim = await scimAs(app, await newScimClient(tenant));
  });
  afterAll(() => app.close());
  const body = (userName: string, over: object = {}) => ({ schemas: [USER_SCHEMA], userName, active: true, ...over });

  it('has the same id, an entity tag that no former version had, and 404 in between', async () => {
    const before = (await scim.post(SCIM_USERS, body('back@acme.example', { externalId: 'first' }))).body;
    const path = `${SCIM_USERS}/${before.id}`;
    expect((await scim.delete(path)).status).toBe(204);
    expect((await scim.get(path)).status).toBe(404);
    const back = await scim.post(SCIM_USERS, body('back@acme.example', { externalId: 'second' }));
    expect([back.status, back.body.id]).toEqual([201, before.id]);
    const stale = { headers: { 'if-match': before.meta.version as string } };
    expect((await scim.put(path, body('back@acme.example'), stale)).status).toBe(412);
    expect((await scim.get(path)).body).toEqual(back.body);
  });

  it.each(['', '?erase=true'])('has a new id if an administrator deleted the employee%s', async (erase) => {
    const userName = `passed-on${erase.length}@acme.example`;
    const { id } = (await scim.post(SCIM_USERS, body(userName))).body;
    expect((await scim.delete(`${SCIM_USERS}/${id}`)).status).toBe(204);
    expect((await tenant.admin.delete(`/api/v1/admin/users/${id}${erase}`)).status).toBeLessThan(300);
    const other = await scim.post(SCIM_USERS, body(userName));
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(id);
    expect((await scim.get(`${SCIM_USERS}/${id}`)).status).toBe(404);
  });
});
