import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';

const USERS = '/api/v1/admin/users';
const person = (over: object = {}) => ({
  email: `${randomUUID()}@acme.example`,
  displayName: 'Ada Lovelace',
  department: 'Research',
  jobTitle: 'Analyst',
  ...over,
});

describe('employees over HTTP', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('are found as soon as they are created', async () => {
    const sent = person();
    const { status, body } = await acme.admin.post(USERS, sent);
    expect(status).toBe(201);
    expect(body).toEqual({
      ...sent,
      id: expect.any(String),
      status: 'pending',
      source: 'manual',
      externalId: null,
      isPlaceholder: false,
      deviceCount: 0,
      riskScore: 0,
      riskFactors: [],
      lastSeenAt: null,
      sources: [],
      ownedFields: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await acme.admin.get(`${USERS}/${body.id}`)).body).toEqual(body);
    expect((await acme.admin.get(`${USERS}?search=${sent.email}`)).body).toEqual({
      users: [body],
      total: 1,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      totalIsLowerBound: false,
      nextCursor: null,
    });
  });

  it('need only an e-mail and a name', async () => {
    const { status, body } = await acme.admin.post(USERS, { email: person().email, displayName: 'Bo', department: '' });
    expect([status, body.department, body.jobTitle]).toEqual([201, null, null]);
  });

  it.each([
    {},
    { displayName: 'x' },
    { email: 'x@acme.example' },
    person({ email: 'nobody' }),
    person({ displayName: ' ' }),
    person({ department: 7 }),
    person({ jobTitle: 'x'.repeat(201) }),
  ])('are rejected as %j', async (body) => {
    expect((await acme.admin.post(USERS, body)).status).toBe(400);
  });

  it('have an e-mail that is unique in their tenant, regardless of case', async () => {
    const sent = person();
    expect((await acme.admin.post(USERS, sent)).status).toBe(201);
    const again = await acme.admin.post(USERS, { ...sent, email: sent.email.toUpperCase() });
    expect([again.status, again.body]).toEqual([409, expect.objectContaining({ error: 'already exists' })]);
    const other = await app.newTenant();
    expect((await other.admin.post(USERS, sent)).status).toBe(201);
  });

  it('with one e-mail are created once by fifty concurrent requests', async () => {
    const sent = person();
    const answers = await Promise.all(Array.from({ length: 50 }, () => acme.admin.post(USERS, sent)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    expect((await acme.admin.get(`${USERS}?search=${sent.email}`)).body.total).toBe(1);
  });

  it('keep the fields that a change omits', async () => {
    const sent = person();
    const { body } = await acme.admin.post(USERS, sent);
    const path = `${USERS}/${body.id}`;
    const changed = await acme.admin.put(path, { jobTitle: 'Lead', unknown: true });
    expect([changed.status, changed.body]).toEqual([200, { ...body, jobTitle: 'Lead', updatedAt: expect.any(String) }]);
    expect((await acme.admin.put(path, { department: null })).body).toMatchObject({
      department: null,
      jobTitle: 'Lead',
    });
    expect((await acme.admin.put(path, {})).body).toMatchObject({ email: sent.email, displayName: sent.displayName });
    expect((await acme.admin.put(path, { email: 'nobody' })).status).toBe(400);
  });

  it('may take a released e-mail, but not one that is in use', async () => {
    const [first, second] = [person(), person()];
    const { body: ada } = await acme.admin.post(USERS, first);
    const { body: bo } = await acme.admin.post(USERS, second);
    expect((await acme.admin.put(`${USERS}/${bo.id}`, { email: first.email })).status).toBe(409);
    expect((await acme.admin.put(`${USERS}/${ada.id}`, { email: person().email })).status).toBe(200);
    expect((await acme.admin.put(`${USERS}/${bo.id}`, { email: first.email })).body.email).toBe(first.email);
  });

  it('can be set inactive', async () => {
    const { body } = await acme.admin.post(USERS, person());
    expect((await acme.admin.put(`${USERS}/${body.id}`, { status: 'inactive' })).body.status).toBe('inactive');
    expect((await acme.admin.put(`${USERS}/${body.id}`, { status: 'active' })).body.status).toBe('pending');
    expect((await acme.admin.put(`${USERS}/${body.id}`, { status: 'gone' })).status).toBe(400);
  });

  it('are not found after their deletion, and their e-mail is free', async () => {
    const sent = person();
    const { body } = await acme.admin.post(USERS, sent);
    const path = `${USERS}/${body.id}`;
    expect((await acme.admin.delete(path)).status).toBe(204);
    for (const { status } of [
      await acme.admin.get(path),
      await acme.admin.put(path, { jobTitle: 'x' }),
      await acme.admin.delete(path),
    ])
      expect(status).toBe(404);
    expect((await acme.admin.post(USERS, sent)).status).toBe(201);
  });

  it('are not found by an unknown id, or in another tenant', async () => {
    for (const id of [randomUUID(), 'not-an-id', '../users'])
      expect((await acme.admin.get(`${USERS}/${encodeURIComponent(id)}`)).status).toBe(404);
  });

  it('are listed by page, newest first, and by filters', async () => {
    const tenant = await app.newTenant();
    for (const [name, department] of [
      ['Ann', 'Sales'],
      ['Bob', 'sales'],
      ['50%_off', 'Research'],
    ]) {
      await tenant.admin.post(USERS, person({ displayName: name, department }));
    }
    const names = async (query: string) =>
      (await tenant.admin.get(`${USERS}?${query}`)).body.users.map(
        ({ displayName }: { displayName: string }) => displayName,
      );
    expect(await names('')).toEqual(['50%_off', 'Bob', 'Ann']);
    expect(await names('page_size=2&page=2')).toEqual(['Ann']);
    expect(await names('department=SALES')).toEqual(['Bob', 'Ann']);
    expect(await names('search=bO')).toEqual(['Bob']);
    expect(await names(`search=${encodeURIComponent('%_')}`)).toEqual(['50%_off']);
    expect(await names('search=%25')).toEqual(['50%_off']);
    expect(await names('status=inactive')).toEqual([]);
    expect((await tenant.admin.get(`${USERS}?page_size=2`)).body).toMatchObject({
      total: 3,
      page: 1,
      pageSize: 2,
      totalPages: 2,
    });
    expect((await tenant.admin.get(`${USERS}?status=gone`)).status).toBe(400);
  });

  it('are deleted in bulk, and unknown ones are named', async () => {
    const made = await Promise.all(Array.from({ length: 60 }, () => acme.admin.post(USERS, person())));
    const ids = made.map(({ body }) => body.id as string);
    const nobody = randomUUID();
    const { status, body } = await acme.admin.delete(`${USERS}/bulk`, { body: { userIds: [...ids, nobody, ids[0]] } });
    expect([status, body]).toEqual([200, { deleted: 60, notFound: [nobody] }]);
    expect((await acme.admin.get(`${USERS}/${ids[59]}`)).status).toBe(404);
    for (const userIds of [[], ['x'], Array.from({ length: 501 }, () => randomUUID()), 'all']) {
      expect((await acme.admin.delete(`${USERS}/bulk`, { body: { userIds } })).status).toBe(400);
    }
  });

  it('are created as a placeholder with a device that has no user, and count it', async () => {
    const tenant = await app.newTenant();
    const { client, userId, deviceId } = await enrolledDevice(app, tenant);
    client.close();
    await app.settled();
    const path = `${USERS}/${userId}`;
    const placeholder = {
      email: `device-${deviceId}@placeholder.invalid`,
      status: 'pending',
      source: 'enrollment',
      isPlaceholder: true,
      deviceCount: 1,
    };
    expect((await tenant.admin.get(path)).body).toMatchObject(placeholder);
    expect((await tenant.admin.put(path, { email: 'ada@acme.example', displayName: 'Ada' })).body).toMatchObject({
      isPlaceholder: false,
      status: 'active',
      deviceCount: 1,
    });
    await tenant.admin.delete(`/api/v1/admin/devices/${deviceId}`);
    expect((await tenant.admin.get(path)).body).toMatchObject({ status: 'active', deviceCount: 0 });
  });

  it('lose their devices with their record', async () => {
    const tenant = await app.newTenant();
    const { client, userId, deviceId } = await enrolledDevice(app, tenant);
    await app.settled();
    expect((await client.get('/api/v1/ext/policies')).status).toBe(200);
    expect((await tenant.admin.delete(`${USERS}/${userId}`)).status).toBe(204);
    await app.settled();
    expect((await tenant.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.status).toBe('revoked');
    expect((await client.get('/api/v1/ext/policies')).status).toBe(401);
    client.close();
  });
});

describe('the user limit of a license', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  it('holds for any number of concurrent creations', async () => {
    const { admin } = await app.newTenant({ license: { maxUsers: 10 } });
    const answers = await Promise.all(Array.from({ length: 40 }, () => admin.post(USERS, person())));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(30);
    expect(answers.find(({ status }) => status === 403)!.body).toEqual(
      expect.objectContaining({ error: 'license user limit reached' }),
    );
    expect((await admin.get(USERS)).body.total).toBe(10);
    expect((await admin.get('/api/v1/admin/settings/license')).body).toMatchObject({ maxUsers: 10, currentUsers: 10 });
  });

  it('distinguishes a duplicate from an excess', async () => {
    const { admin } = await app.newTenant({ license: { maxUsers: 1 } });
    const sent = person();
    expect((await admin.post(USERS, sent)).status).toBe(201);
    expect((await admin.post(USERS, sent)).status).toBe(409);
    expect((await admin.post(USERS, person())).status).toBe(403);
  });

  it('lets exactly as many in as there are free seats', async () => {
    const { admin } = await app.newTenant({ license: { maxUsers: 3 } });
    const made = await Promise.all(Array.from({ length: 3 }, () => admin.post(USERS, person())));
    expect((await admin.post(USERS, person())).status).toBe(403);
    expect((await admin.delete(`${USERS}/${made[1]!.body.id}`)).status).toBe(204);
    expect((await admin.post(USERS, person())).status).toBe(201);
    expect((await admin.post(USERS, person())).status).toBe(403);
  });

  it('counts placeholders', async () => {
    const tenant = await app.newTenant({ license: { maxUsers: 1 } });
    (await enrolledDevice(app, tenant)).client.close();
    await app.settled();
    expect((await tenant.admin.post(USERS, person())).status).toBe(403);
  });
});
