import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGroup } from '../../../../commands/groups/create-group.ts';
import { deleteGroup } from '../../../../commands/groups/delete-group.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const GROUPS = '/api/v1/admin/groups';
const POLICIES = '/api/v1/ext/policies';

let app: TestApp;
let tenant: TestTenant;
const open: EnrolledDevice[] = [];
beforeAll(async () => {
  app = await sharedApp();
  tenant = await app.newTenant();
});
afterAll(async () => {
  for (const { client } of open) client.close();
  await app.close();
});

const person = async (on = tenant): Promise<string> => {
  const email = `${randomUUID().slice(0, 8)}@acme.example`;
  return (await on.admin.post('/api/v1/admin/users', { email, displayName: email, department: null, jobTitle: null }))
    .body.id;
};
const newGroup = async (name = `Group ${randomUUID()}`, on = tenant) => (await on.admin.post(GROUPS, { name })).body;
const rules = [{ domainMatch: { type: 'exact', value: 'shop.example' }, condition: 'any', action: 'block' }];
const newPolicy = async (over: object = {}) =>
  (await tenant.admin.post('/api/v1/admin/policies', { name: `Policy ${randomUUID()}`, rules, ...over })).body;

describe('groups', () => {
  it('are created, read, changed in part, listed and deleted', async () => {
    const own = await app.newTenant();
    const created = await own.admin.post(GROUPS, { name: ' Sales ', description: 'who sell' });
    expect([created.status, created.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Sales',
        description: 'who sell',
        source: 'manual',
        externalId: null,
        memberCount: 0,
        policyCount: 0,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ]);
    const path = `${GROUPS}/${created.body.id}`;
    expect((await own.admin.put(path, { description: 'who bought' })).body).toMatchObject({
      name: 'Sales',
      description: 'who bought',
    });
    expect((await own.admin.post(GROUPS, { name: 'SALES' })).status).toBe(409);
    const second = await newGroup('Support', own);
    expect((await own.admin.put(`${GROUPS}/${second.id}`, { name: 'sales' })).status).toBe(409);
    expect((await own.admin.put(path, { name: 'SALES' })).body.name).toBe('SALES');
    const { body } = await own.admin.get(GROUPS);
    expect(Object.keys(body).toSorted()).toEqual(['groups', 'total']);
    expect(body.groups.map(({ id }: { id: string }) => id)).toEqual([second.id, created.body.id]);
    expect((await own.admin.delete(path)).status).toBe(204);
    for (const again of [
      await own.admin.get(path),
      await own.admin.put(path, { name: 'x' }),
      await own.admin.delete(path),
      await own.admin.get(`${path}/members`),
      await own.admin.get(`${path}/policies`),
    ])
      expect(again.status).toBe(404);
    expect((await own.admin.post(GROUPS, { name: 'Sales' })).status).toBe(201);
  });

  it('have members, each once, who are employees of this tenant', async () => {
    const group = await newGroup();
    const path = `${GROUPS}/${group.id}/members`;
    const [one, two] = [await person(), await person()];
    expect((await tenant.admin.post(path, { userIds: [one, two, one] })).body).toEqual({ added: 2, total: 2 });
    expect((await tenant.admin.post(path, { userId: one })).body).toEqual({ added: 0, total: 2 });
    const { members, total } = (await tenant.admin.get(path)).body;
    expect([members.map(({ id }: { id: string }) => id).toSorted(), total]).toEqual([[one, two].toSorted(), 2]);
    expect((await tenant.admin.get(`${GROUPS}/${group.id}`)).body.memberCount).toBe(2);
    expect((await tenant.admin.delete(`${path}/${one}`)).status).toBe(204);
    expect((await tenant.admin.delete(`${path}/${one}`)).status).toBe(404);
    const stranger = await person(await app.newTenant());
    for (const body of [{}, { userIds: [] }, { userIds: ['me'] }, { userId: stranger }, { userIds: [randomUUID()] }])
      expect([body, (await tenant.admin.post(path, body)).status]).toEqual([body, 400]);
    await tenant.admin.delete(`/api/v1/admin/users/${two}`);
    await app.settled();
    expect((await tenant.admin.get(path)).body).toEqual({ members: [], total: 0 });
  });

  it('are set for an employee as a whole', async () => {
    const user = await person();
    const [one, two, three] = [await newGroup(), await newGroup(), await newGroup()];
    const path = `/api/v1/admin/users/${user}/groups`;
    const set = async (groupIds: string[]) =>
      (await tenant.admin.put(path, { groupIds })).body.groups.map(({ id }: { id: string }) => id).toSorted();
    expect(await set([one.id, two.id])).toEqual([one.id, two.id].toSorted());
    expect(await set([two.id, three.id])).toEqual([two.id, three.id].toSorted());
    expect((await tenant.admin.put(path, { groupIds: [one.id, randomUUID()] })).status).toBe(400);
    expect((await tenant.admin.get(path)).body.total).toBe(2);
    expect(await set([])).toEqual([]);
    expect((await tenant.admin.get(`/api/v1/admin/users/${randomUUID()}/groups`)).status).toBe(404);
    expect((await tenant.admin.put(`/api/v1/admin/users/${randomUUID()}/groups`, { groupIds: [] })).status).toBe(404);
  });

  it('from a directory cannot be changed by hand', async () => {
    const input = {
      name: `Synced ${randomUUID()}`,
      description: '',
      owner: { kind: 'directory' as const, id: randomUUID() },
      externalId: 'cn=staff',
    };
    const { result, position } = orThrow(
      await app.services.executor.execute(createGroup, input, { tenantId: tenant.tenantId, actor: system('test') }),
    );
    await app.services.freshness.waitFor(['groups'], position!, 10_000);
    const user = await person();
    expect((await tenant.admin.post(`${GROUPS}/${result.groupId}/members`, { userId: user })).status).toBe(409);
    expect((await tenant.admin.put(`/api/v1/admin/users/${user}/groups`, { groupIds: [result.groupId] })).status).toBe(
      409,
    );
  });
});

describe('a refused call', () => {
  const ABSENT = '0198a000-0000-7000-8000-000000000000';

  it('attaches no policy, if one of them does not exist', async () => {
    const [group, policy] = [await newGroup(), await newPolicy()];
    const path = `${GROUPS}/${group.id}/policies`;
    const { status, body } = await tenant.admin.post(path, { policyIds: [policy.id, ABSENT] });
    expect([status, body]).toMatchObject([400, { code: 'validation_failed', fields: [{ field: 'policyIds' }] }]);
    await app.settled();
    expect((await tenant.admin.get(`/api/v1/admin/policies/${policy.id}`)).body).toMatchObject({
      groupIds: [],
      version: 1,
    });
  });

  it('leaves an employee in their groups, if one of the others belongs to a directory', async () => {
    const [now, next, user] = [await newGroup(), await newGroup(), await person()];
    const path = `/api/v1/admin/users/${user}/groups`;
    expect((await tenant.admin.put(path, { groupIds: [now.id] })).status).toBe(200);
    const managed = {
      name: `managed ${user}`,
      description: '',
      owner: { kind: 'scim' as const, id: randomUUID() },
      externalId: user,
    };
    const { result } = orThrow(
      await app.services.executor.execute(createGroup, managed, {
        tenantId: tenant.tenantId,
        actor: system('test'),
      }),
    );
    await app.settled();
    const refused = await tenant.admin.put(path, { groupIds: [next.id, result.groupId] });
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'group_managed' }]);
    await app.settled();
    expect((await tenant.admin.get(path)).body.groups).toMatchObject([{ id: now.id }]);
  });
});

describe('policies of groups', () => {
  it('reach the members only', async () => {
    const [insider, outsider] = [await enrolledDevice(app, tenant), await enrolledDevice(app, tenant)];
    open.push(insider, outsider);
    const group = await newGroup();
    for (const { id } of (await tenant.admin.get('/api/v1/admin/policies?page_size=100')).body.policies)
      await tenant.admin.delete(`/api/v1/admin/policies/${id}`);
    const [mine, everyones] = [await newPolicy(), await newPolicy({ priority: 500 })];
    const path = `${GROUPS}/${group.id}/policies`;
    expect((await tenant.admin.post(path, { policyIds: [mine.id, mine.id] })).body).toEqual({ added: 1, total: 1 });
    expect((await tenant.admin.post(path, { policyId: mine.id })).body).toEqual({ added: 0, total: 1 });
    expect((await tenant.admin.get(path)).body.policies).toMatchObject([
      { id: mine.id, groupIds: [group.id], version: 2 },
    ]);
    expect((await tenant.admin.get(`${GROUPS}/${group.id}`)).body.policyCount).toBe(1);

    const told = async ({ client }: EnrolledDevice) => {
      const { body, headers } = await client.get(POLICIES);
      return {
        ids: body.policies
          .map(({ id }: { id: string }) => id)
          .filter((id: string) => [mine.id, everyones.id].includes(id)),
        etag: headers.get('etag')!,
      };
    };
    const before = await told(insider);
    expect([before.ids, (await told(outsider)).ids]).toEqual([[everyones.id], [everyones.id]]);
    await tenant.admin.post(`${GROUPS}/${group.id}/members`, { userId: insider.userId });
    const after = await told(insider);
    expect([after.ids, (await told(outsider)).ids]).toEqual([[mine.id, everyones.id], [everyones.id]]);
    expect(after.etag).not.toBe(before.etag);
    expect((await insider.client.get(POLICIES, { headers: { 'if-none-match': before.etag } })).status).toBe(200);
    expect((await insider.client.get(POLICIES, { headers: { 'if-none-match': after.etag } })).status).toBe(304);

    const test = async (userId?: string) =>
      (await tenant.admin.post('/api/v1/admin/policies/test', { domain: 'shop.example', userId })).body;
    expect((await test(insider.userId)).matchedPolicyId).toBe(mine.id);
    expect((await test(outsider.userId)).matchedPolicyId).toBe(everyones.id);
    expect((await test()).trace.considered[0]).toMatchObject({ policyId: mine.id, outcome: 'other_group' });

    await tenant.admin.delete(`${GROUPS}/${group.id}/members/${insider.userId}`);
    expect((await told(insider)).ids).toEqual([everyones.id]);
    expect((await tenant.admin.delete(`${path}/${mine.id}`)).status).toBe(204);
    expect((await tenant.admin.delete(`${path}/${mine.id}`)).status).toBe(404);
    expect((await told(outsider)).ids).toEqual([mine.id, everyones.id]);
    expect((await tenant.admin.post(path, { policyId: randomUUID() })).status).toBe(400);
    expect((await tenant.admin.post(`${GROUPS}/${randomUUID()}/policies`, { policyId: mine.id })).status).toBe(404);
  });

  it('reach nobody once their only group is deleted by its source', async () => {
    const device = await enrolledDevice(app, tenant);
    open.push(device);
    const owner = { kind: 'scim', id: randomUUID() } as const;
    const by = { tenantId: tenant.tenantId, actor: system('test') };
    const input = { name: randomUUID(), description: '', externalId: null, owner };
    const { groupId } = orThrow(await app.services.executor.execute(createGroup, input, by)).result;
    await app.settled();
    const policy = await newPolicy();
    await tenant.admin.post(`${GROUPS}/${groupId}/policies`, { policyId: policy.id });
    orThrow(await app.services.executor.execute(deleteGroup, { groupId, by: owner }, by));
    await app.settled();
    expect((await device.client.get(POLICIES)).text).not.toContain(policy.id);
  });
});
