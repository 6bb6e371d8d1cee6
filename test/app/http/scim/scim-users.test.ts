import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newScimClient, scimAs, type TestScimClient } from '../../../dsl/scim.ts';

const USERS = '/scim/v2/Users';
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

describe('SCIM users', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let client: TestScimClient;
  let scim: Client;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    client = await newScimClient(tenant);
    scim = await scimAs(app, client);
  });
  afterAll(() => app.close());

  let number = 0;
  const person = (over: object = {}) => {
    const userName = `person-${(number += 1)}@acme.example`;
    return { schemas: [USER], userName, name: { givenName: 'Ann', familyName: `Nr${number}` }, ...over };
  };
  const create = async (over: object = {}) => {
    const made = await scim.post(USERS, person(over));
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    return made.body;
  };
  const patch = (id: string, ...Operations: object[]) =>
    scim.send('PATCH', `${USERS}/${id}`, {
      body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations },
    });

  it('F271, F277, OP-224: a user is an employee', async () => {
    const body = person({
      externalId: 'E-1',
      displayName: 'Ann Example',
      title: 'Engineer',
      emails: [{ value: 'ann@acme.example', type: 'work', primary: true }],
      [ENTERPRISE]: { department: 'Research', employeeNumber: '7' },
    });
    const made = await scim.post(USERS, body);
    expect(made.status).toBe(201);
    expect(made.headers.get('content-type')).toContain('application/scim+json');
    expect(made.headers.get('location')).toBe(`https://castellan.example${USERS}/${made.body.id}`);
    expect(made.headers.get('etag')).toBe(made.body.meta.version);
    expect(made.body).toEqual({
      ...body,
      schemas: [USER, ENTERPRISE],
      active: true,
      id: expect.any(String),
      meta: {
        resourceType: 'User',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: `https://castellan.example${USERS}/${made.body.id}`,
        version: 'W/"1"',
      },
    });
    const employee = (await tenant.admin.get(`/api/v1/admin/users/${made.body.id}`)).body;
    expect(employee).toMatchObject({
      email: 'ann@acme.example',
      displayName: 'Ann Example',
      department: 'Research',
      jobTitle: 'Engineer',
      externalId: 'E-1',
      source: 'scim',
    });
    expect((await scim.get(`${USERS}/${made.body.id}`)).body).toEqual(made.body);
  });

  it('what POST returns is what GET returns, with the same entity tag', async () => {
    const made = await scim.post(USERS, person({ emails: [{ value: 'other@acme.example', primary: true }] }));
    const got = await scim.get(`${USERS}/${made.body.id}`);
    expect(got.body).toEqual(made.body);
    expect(got.headers.get('etag')).toBe(made.headers.get('etag'));
  });

  it.each([
    ['joe@b\u00fccher.example', 'joe@xn--bcher-kva.example'],
    ['a@foo.xn--p1ai', 'a@foo.xn--p1ai'],
    ['guest_b.example#EXT#@acme.example', 'guest_b.example#EXT#@acme.example'],
  ])('takes the address %s', async (value, email) => {
    const made = await scim.post(USERS, person({ emails: [{ value, primary: true }] }));
    expect([made.status, made.body.emails[0].value]).toEqual([201, value]);
    expect((await tenant.admin.get(`/api/v1/admin/users/${made.body.id}`)).body.email).toBe(email);
  });

  it('F275: a second user with the same userName gets 409 uniqueness, in any case', async () => {
    const { userName } = await create();
    const refused = await scim.post(USERS, person({ userName: userName.toUpperCase() }));
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        schemas: [ERROR],
        status: '409',
        scimType: 'uniqueness',
        detail: expect.any(String),
        error: expect.any(String),
      },
    ]);
  });

  it('owns what it says of the user: an administrator is told by which client, by its name', async () => {
    const made = await scim.post(USERS, person({ displayName: 'Of The Client' }));
    await app.settled();
    const refused = await tenant.admin.put(`/api/v1/admin/users/${made.body.id}`, { displayName: 'By hand' });
    const { clients } = (await tenant.admin.get('/api/v1/admin/scim/clients')).body;
    const owners = (clients as { id: string; name: string }[]).map(
      ({ id, name }) => `is owned by SCIM client “${name}” (${id})`,
    );
    expect([refused.status, refused.body.fields]).toEqual([
      409,
      [{ field: 'displayName', message: expect.toBeOneOf(owners) }],
    ]);
    expect(refused.body.error).toContain(refused.body.fields[0].message);
  });

  it('links an employee whom no SCIM client has yet', async () => {
    const email = 'by-hand@acme.example';
    const { id } = (await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'By Hand' })).body;
    await app.settled();
    const linked = await scim.post(USERS, person({ userName: email, displayName: 'By SCIM' }));
    expect([linked.status, linked.body.id]).toEqual([201, id]);
    expect((await scim.post(USERS, person({ userName: email }))).status).toBe(409);
  });

  it('links an employee whom the client does not name, and keeps their name until it does', async () => {
    const email = 'unnamed@acme.example';
    const { id } = (await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'Given by hand' })).body;
    expect((await scim.post(USERS, { schemas: [USER], userName: email })).status).toBe(201);
    const name = async () => {
      await app.settled();
      return (await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.displayName;
    };
    expect(await name()).toBe('Given by hand');
    await patch(id, { op: 'add', path: 'title', value: 'Countess' });
    expect(await name()).toBe('Given by hand');
    await patch(id, { op: 'add', path: 'displayName', value: 'By SCIM' });
    expect(await name()).toBe('By SCIM');
    await patch(id, { op: 'remove', path: 'displayName' });
    expect(await name()).toBe(email);
  });

  it('links a person whom an administrator set inactive without bringing them back by omission', async () => {
    const email = 'set-inactive@acme.example';
    const { id } = (await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'By Hand' })).body;
    expect((await tenant.admin.put(`/api/v1/admin/users/${id}`, { status: 'inactive' })).status).toBe(200);
    const linked = await scim.post(USERS, person({ userName: email }));
    expect([linked.status, linked.body.id, linked.body.active]).toEqual([201, id, false]);
    await app.settled();
    expect((await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.status).toBe('inactive');
    const back = await patch(id, { op: 'replace', path: 'active', value: true });
    expect([back.status, back.body.active]).toEqual([200, true]);
    await app.settled();
    expect((await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.status).not.toBe('inactive');
  });

  it('OP-494: 409 names the e-mail that another user of the client has', async () => {
    await create({ emails: [{ value: 'Taken@acme.example' }] });
    const refused = await scim.post(USERS, person({ emails: [{ value: 'taken@ACME.example' }] }));
    expect([refused.status, refused.body.detail]).toEqual([409, 'already exists: email']);
    const { userName } = await create({ emails: [{ value: 'mine@acme.example' }], externalId: 'mine' });
    const named = await scim.post(USERS, person({ userName, emails: [{ value: 'mine@acme.example' }] }));
    expect(named.body.detail).toBe('already exists: userName');
    const identified = await scim.post(USERS, person({ externalId: 'mine', emails: [{ value: 'mine@acme.example' }] }));
    expect(identified.body.detail).toBe('already exists: externalId');
  });

  it('POST and PUT take dotted names and names with a URN', async () => {
    const dotted = {
      name: undefined,
      'name.givenName': 'Dot',
      [`${USER}:title`]: 'Engineer',
      [`${ENTERPRISE}:department`]: 'X',
      [`${ENTERPRISE}:manager.displayName`]: 'Boss',
      'emails[type eq "work"].value': 'dot@acme.example',
      'meta.version': 'W/"7"',
      'unknown.name': 1,
    };
    const shown = {
      name: { givenName: 'Dot' },
      title: 'Engineer',
      [ENTERPRISE]: { department: 'X', manager: { displayName: 'Boss' } },
      emails: [{ type: 'work', value: 'dot@acme.example' }],
    };
    const made = await create(dotted);
    expect(made).toMatchObject(shown);
    const put = await scim.put(`${USERS}/${made.id}`, {
      userName: made.userName,
      name: { familyName: 'Ted' },
      'name.givenName': 'Dot',
    });
    expect([put.status, put.body.name, put.body.title]).toEqual([
      200,
      { familyName: 'Ted', givenName: 'Dot' },
      undefined,
    ]);
    const alone = await scim.post(USERS, { [`${USER}:userName`]: 'only-by-urn@acme.example' });
    expect([alone.status, alone.body.userName]).toEqual([201, 'only-by-urn@acme.example']);
    const twice = await scim.post(USERS, person({ 'name.givenName': 'Dot' }));
    expect([twice.status, twice.body.scimType]).toEqual([400, 'invalidSyntax']);
  });

  it.each([
    ['a NUL', '%00'],
    ['a surrogate alone', '%ED%A0%80'],
    ['bytes that are no UTF-8', '%FF'],
  ])('OP-223: a filter with %s gets 400 invalidFilter', async (_what, text) => {
    const refused = await scim.get(`${USERS}?filter=userName%20eq%20%22a${text}%22`);
    expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidFilter']);
  });

  it('F272, F273: a deleted user is not found; the employee is inactive, and may return', async () => {
    const { id, userName } = await create();
    expect((await scim.delete(`${USERS}/${id}`)).status).toBe(204);
    for (const gone of [
      await scim.get(`${USERS}/${id}`),
      await scim.delete(`${USERS}/${id}`),
      await patch(id, { op: 'replace', path: 'title', value: 'x' }),
    ])
      expect([gone.status, gone.body.schemas]).toEqual([404, [ERROR]]);
    expect((await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.status).toBe('inactive');
    const omitted = await scim.post(USERS, person({ userName }));
    expect([omitted.status, omitted.body.id, omitted.body.active]).toEqual([201, id, false]);
    expect((await scim.delete(`${USERS}/${id}`)).status).toBe(204);
    const back = await scim.post(USERS, person({ userName, active: true }));
    expect([back.status, back.body.id, back.body.active]).toEqual([201, id, true]);
  });

  it('F274: PUT clears what it leaves out', async () => {
    const { id, userName } = await create({ title: 'Engineer', nickName: 'Annie', active: false });
    const put = await scim.put(`${USERS}/${id}`, { schemas: [USER], userName, displayName: 'Other' });
    expect([put.status, put.body.title, put.body.nickName, put.body.displayName]).toEqual([
      200,
      undefined,
      undefined,
      'Other',
    ]);
    // A person who left does not come back by omission.
    expect(put.body.active).toBe(false);
    expect((await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.jobTitle).toBeNull();
  });

  it('active false makes the employee inactive, and true brings them back', async () => {
    const { id } = await create();
    for (const [value, status] of [
      [false, 'inactive'],
      [true, 'pending'],
    ] as const) {
      expect((await patch(id, { op: 'replace', path: 'active', value })).body.active).toBe(value);
      expect((await tenant.admin.get(`/api/v1/admin/users/${id}`)).body.status).toBe(status);
    }
  });

  it('a PATCH whose last operation fails changes nothing', async () => {
    const { id, meta } = await create();
    const refused = await patch(
      id,
      { op: 'replace', path: 'title', value: 'Changed' },
      { op: 'replace', path: 'emails[type eq "home"]', value: { value: 'x@acme.example' } },
    );
    expect([refused.status, refused.body.scimType]).toEqual([400, 'noTarget']);
    expect((await scim.get(`${USERS}/${id}`)).body).toMatchObject({ meta: { version: meta.version } });
  });

  it('If-Match and If-None-Match', async () => {
    const { id, userName, meta } = await create();
    const put = (headers: Record<string, string>) =>
      scim.put(`${USERS}/${id}`, { schemas: [USER], userName, title: Math.random().toString() }, { headers });
    expect((await put({ 'if-match': 'W/"99"' })).status).toBe(412);
    expect((await put({ 'if-match': meta.version })).status).toBe(200);
    expect((await put({ 'if-match': meta.version })).status).toBe(412);
    expect((await put({ 'if-match': '*' })).status).toBe(200);
    const { headers } = await scim.get(`${USERS}/${id}`);
    const again = await scim.get(`${USERS}/${id}`, { headers: { 'if-none-match': headers.get('etag')! } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await scim.delete(`${USERS}/${id}`, { headers: { 'if-match': 'W/"1"' } })).status).toBe(412);
  });

  it('of writes that race under If-Match, one wins', async () => {
    const { id, userName, meta } = await create();
    const headers = { 'if-match': meta.version as string };
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async (_, each) => {
        const body = { schemas: [USER], userName, title: `Nr ${each}` };
        const written =
          each % 2 === 0
            ? await scim.put(`${USERS}/${id}`, body, { headers })
            : await scim.send('PATCH', `${USERS}/${id}`, {
                headers,
                body: { schemas: [], Operations: [{ op: 'replace', path: 'title', value: `Nr ${each}` }] },
              });
        return written.status;
      }),
    );
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
  });

  it('a write is refused if it names the present version in If-None-Match', async () => {
    const { id, userName, meta } = await create();
    for (const tag of ['*', meta.version as string]) {
      const headers = { 'if-none-match': tag };
      const patched = { schemas: [], Operations: [{ op: 'replace', path: 'title', value: 'T' }] };
      expect((await scim.send('PATCH', `${USERS}/${id}`, { headers, body: patched })).status).toBe(412);
      expect((await scim.put(`${USERS}/${id}`, { schemas: [USER], userName }, { headers })).status).toBe(412);
      expect((await scim.delete(`${USERS}/${id}`, { headers })).status).toBe(412);
    }
    expect((await scim.get(`${USERS}/${id}`)).body.meta.version).toBe(meta.version);
  });

  it('a text without characters is no value: not for pr, and not for what is required', async () => {
    const { id, userName } = await create({ title: '' });
    const found = await scim.get(`${USERS}?filter=${encodeURIComponent(`userName eq "${userName}" and title pr`)}`);
    expect(found.body.totalResults).toBe(0);
    const blank = await scim.post(USERS, { schemas: [USER], userName: ' ' });
    expect([blank.status, blank.body.scimType]).toEqual([400, 'invalidValue']);
    await scim.delete(`${USERS}/${id}`);
  });

  it('PATCHes that race without If-Match are all kept', async () => {
    const { id } = await create();
    const values = Array.from({ length: 64 }, (_, each) => `+49 30 ${each}`);
    const written = await Promise.all(
      values.map((value) => patch(id, { op: 'add', path: 'phoneNumbers', value: [{ value, type: 'work' }] })),
    );
    expect(written.map(({ status }) => status)).toEqual(values.map(() => 200));
    const { phoneNumbers } = (await scim.get(`${USERS}/${id}`)).body;
    expect(phoneNumbers.map(({ value }: { value: string }) => value).sort()).toEqual(values.toSorted());
  });

  it('200 parallel creates of one userName: one 201, 199 times 409', { timeout: 120_000 }, async () => {
    const body = person();
    // Another tenant that is here, too, makes this one take turns (decision 0064).
    expect((await (await app.newTenant()).admin.get('/api/v1/admin/users')).status).toBe(200);
    const responses = await Promise.all(Array.from({ length: 200 }, () => scim.post(USERS, body)));
    const other = responses.filter(({ status }) => status !== 201 && status !== 409);
    expect(other.map(({ status, body: refusal }) => ({ status, refusal }))).toEqual([]);
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  it('F266: a token with scim:read may not change anything', async () => {
    const reader = await scimAs(app, client, 'scim:read');
    const { id } = await create();
    for (const [method, path] of [
      ['POST', USERS],
      ['PUT', `${USERS}/${id}`],
      ['PATCH', `${USERS}/${id}`],
      ['DELETE', `${USERS}/${id}`],
      ['POST', '/scim/v2/Groups'],
      ['DELETE', `/scim/v2/Groups/${id}`],
    ] as const) {
      const refused = await reader.send(method, path, method === 'DELETE' ? {} : { body: person() });
      expect([method, refused.status, refused.headers.get('www-authenticate')]).toEqual([
        method,
        403,
        'Bearer realm="castellan", error="insufficient_scope"',
      ]);
      expect(refused.body).toMatchObject({ schemas: [ERROR], status: '403' });
    }
    expect((await reader.get(USERS)).status).toBe(200);
  });

  it('F258, F263, F265: SCIM needs a live token', async () => {
    const other = await newScimClient(tenant);
    const before = await scimAs(app, other);
    expect((await before.get(USERS)).status).toBe(200);
    await tenant.admin.delete(`/api/v1/admin/scim/clients/${other.clientId}`);
    for (const refused of [
      await before.get(USERS),
      await app.anonymous.get(USERS),
      await app.as(tenant.token).get(USERS),
    ]) {
      expect([refused.status, refused.body]).toMatchObject([401, { schemas: [ERROR], status: '401' }]);
      expect(refused.headers.get('www-authenticate')).toContain('Bearer');
      expect(refused.headers.get('content-type')).toContain('application/scim+json');
    }
  });

  it('F276: neither another tenant nor another client sees or changes a user', async () => {
    const { id, userName } = await create();
    const elsewhere = await app.newTenant();
    for (const other of [await newScimClient(elsewhere), await newScimClient(tenant)]) {
      const foreign = await scimAs(app, other);
      expect((await foreign.get(`${USERS}/${id}`)).status).toBe(404);
      expect((await foreign.put(`${USERS}/${id}`, person())).status).toBe(404);
      expect((await foreign.delete(`${USERS}/${id}`)).status).toBe(404);
      expect(
        (await foreign.get(`${USERS}?filter=${encodeURIComponent(`userName eq "${userName}"`)}`)).body.totalResults,
      ).toBe(0);
    }
    const foreign = await scimAs(app, await newScimClient(elsewhere));
    expect((await foreign.post(USERS, person({ userName }))).status).toBe(201);
  });

  it('OP-054: without a free seat, 403', async () => {
    const small = await app.newTenant({ license: { maxUsers: 1 } });
    const only = await scimAs(app, await newScimClient(small));
    expect((await only.post(USERS, person())).status).toBe(201);
    const refused = await only.post(USERS, person());
    expect([refused.status, refused.body.schemas]).toEqual([403, [ERROR]]);
  });

  it('OP-572: an inactive user is still a user, and occupies a seat', async () => {
    const small = await app.newTenant({ license: { maxUsers: 1 } });
    const only = await scimAs(app, await newScimClient(small));
    const inactive = person({ active: false });
    const { id } = (await only.post(USERS, inactive)).body;
    expect((await only.post(USERS, { ...inactive, active: true })).body.detail).toBe('already exists: userName');
    expect((await only.post(USERS, person())).status).toBe(403);
    expect((await only.delete(`${USERS}/${id}`)).status).toBe(204);
    expect((await only.post(USERS, person())).status).toBe(403);
  });

  it('the audit log names what was forgiven, and no value', async () => {
    const { id } = await create({ password: 'hush-hush-hush' });
    await patch(id, { op: 'Replace', path: 'active', value: 'False' });
    await app.settled();
    const log = await tenant.admin.get('/api/v1/admin/audit-log?page_size=100');
    expect(log.text).toContain('op in another case');
    expect(log.text).toContain('boolean as text');
    const all = await app.services.database.owner.query<{ row: string }>(
      `select e::text as row from events e union all select a::text from audit_log a union all select p::text from provisioned_people p`,
    );
    expect(all.rows.some(({ row }) => row.includes('hush-hush'))).toBe(false);
  });
});
