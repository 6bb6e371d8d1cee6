import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  ENTERPRISE_SCHEMA,
  ERROR_SCHEMA,
  GROUP_SCHEMA,
  newScimClient,
  patchBody,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

const SCIM = '/scim/v2';

/** What RFC 7643 and RFC 7644 demand of a service provider, by section. Lists, PATCH and races have suites of their own. */
describe('RFC 7643 and RFC 7644', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let scim: Client;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
    scim = await scimAs(app, await newScimClient(tenant));
  });
  afterAll(() => app.close());

  let number = 0;
  const user = (over: object = {}) => ({ schemas: [USER_SCHEMA], userName: `rfc-${(number += 1)}`, ...over });
  const create = async (over: object = {}) => {
    const made = await scim.post(SCIM_USERS, user(over));
    expect([made.status, made.body]).toMatchObject([201, {}]);
    return made.body;
  };

  describe('RFC 7643', () => {
    it('§2.1 names of attributes are not case-sensitive; responses spell them as the schema does', async () => {
      const made = await scim.post(SCIM_USERS, {
        SCHEMAS: [USER_SCHEMA],
        USERNAME: 'Case',
        Name: { GIVENNAME: 'A' },
        EMAILS: [{ VALUE: 'case@acme.example' }],
      });
      expect([made.status, made.body]).toMatchObject([
        201,
        { userName: 'Case', name: { givenName: 'A' }, emails: [{ value: 'case@acme.example' }] },
      ]);
    });

    it.each([null, [], undefined])('§2.5 %j states that there is no value', async (value) => {
      const { id } = await create({ title: value, phoneNumbers: value });
      const { body } = await scim.get(`${SCIM_USERS}/${id}`);
      expect(['title' in body, 'phoneNumbers' in body]).toEqual([false, false]);
    });

    it('§2.4 the primary value is one, and a value is listed once', async () => {
      const value = { value: '1', type: 'work' };
      expect((await create({ phoneNumbers: [value, value] })).phoneNumbers).toEqual([value]);
      const refused = await scim.post(
        SCIM_USERS,
        user({
          emails: [
            { value: 'a@acme.example', primary: true },
            { value: 'b@acme.example', primary: true },
          ],
        }),
      );
      expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidValue']);
    });

    it('§3.1 id is assigned by the service provider, unique, stable, and not "bulkId"', async () => {
      const made = await create({ id: 'mine', meta: { version: 'mine' } });
      expect(made.id).toMatch(/^[0-9a-f-]{36}$/);
      await scim.send(
        'PATCH',
        `${SCIM_USERS}/${made.id}`,
        patchBody({ op: 'replace', path: 'userName', value: `other-${made.id}` }),
      );
      expect((await scim.get(`${SCIM_USERS}/${made.id}`)).body.id).toBe(made.id);
    });

    it('§3.1 externalId belongs to the client', async () => {
      const made = await create({ externalId: 'X-1' });
      expect(made.externalId).toBe('X-1');
      const other = await scimAs(app, await newScimClient(await app.newTenant()));
      expect((await other.post(SCIM_USERS, user({ externalId: 'X-1' }))).status).toBe(201);
    });

    it('§3.1 meta has the resource type, the times, the location and the version', async () => {
      const { id, meta } = await create();
      expect(meta).toEqual({
        resourceType: 'User',
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        lastModified: meta.created,
        location: `https://castellan.example${SCIM_USERS}/${id}`,
        version: 'W/"1"',
      });
      const changed = (
        await scim.send('PATCH', `${SCIM_USERS}/${id}`, patchBody({ op: 'add', path: 'title', value: 'T' }))
      ).body.meta;
      expect([changed.created, changed.version]).toEqual([meta.created, 'W/"2"']);
      expect(changed.lastModified >= meta.lastModified).toBe(true);
    });

    it('§3.3 schemas name the extensions with values', async () => {
      expect((await create()).schemas).toEqual([USER_SCHEMA]);
      expect((await create({ [ENTERPRISE_SCHEMA]: { division: 'D' } })).schemas).toEqual([
        USER_SCHEMA,
        ENTERPRISE_SCHEMA,
      ]);
    });

    it('§4.1.1 userName is required, and unique without regard to case', async () => {
      for (const body of [{ schemas: [USER_SCHEMA] }, user({ userName: '' }), user({ userName: null })]) {
        const refused = await scim.post(SCIM_USERS, body);
        expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidValue']);
      }
      const { userName } = await create();
      expect((await scim.post(SCIM_USERS, user({ userName: userName.toUpperCase() }))).status).toBe(409);
    });

    it('§4.1.1, §7 a password is never returned, and changes nothing', async () => {
      const { id, meta, ...made } = await create({ password: 't1meMa$heen' });
      expect('password' in made).toBe(false);
      const patched = await scim.send(
        'PATCH',
        `${SCIM_USERS}/${id}`,
        patchBody({ op: 'replace', path: 'password', value: 'other' }),
      );
      expect([patched.status, patched.body.meta.version]).toEqual([200, meta.version]);
    });

    it('§4.1 every attribute is returned as it was sent', async () => {
      const whole = user({
        externalId: '701984',
        name: {
          formatted: 'Ms. Barbara J Jensen, III',
          familyName: 'Jensen',
          givenName: 'Barbara',
          middleName: 'Jane',
          honorificPrefix: 'Ms.',
          honorificSuffix: 'III',
        },
        displayName: 'Babs Jensen',
        nickName: 'Babs',
        profileUrl: 'https://login.example.com/bjensen',
        emails: [
          { value: 'bjensen@example.com', type: 'work', primary: true },
          { value: 'babs@jensen.org', type: 'home' },
        ],
        addresses: [
          {
            streetAddress: '100 Universal City Plaza',
            locality: 'Hollywood',
            region: 'CA',
            postalCode: '91608',
            country: 'USA',
            formatted: '100 Universal City Plaza\nHollywood, CA 91608 USA',
            type: 'work',
            primary: true,
          },
        ],
        phoneNumbers: [{ value: '555-555-5555', type: 'work' }],
        ims: [{ value: 'someaimhandle', type: 'aim' }],
        photos: [{ value: 'https://photos.example.com/profilephoto/72930000000Ccne/F', type: 'photo' }],
        userType: 'Employee',
        title: 'Tour Guide',
        preferredLanguage: 'en-US',
        locale: 'en-US',
        timezone: 'America/Los_Angeles',
        active: true,
        entitlements: [{ value: 'e' }],
        roles: [{ value: 'r', primary: true }],
        x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEFBQAw' }],
        [ENTERPRISE_SCHEMA]: {
          employeeNumber: '701984',
          costCenter: '4130',
          organization: 'Universal Studios',
          division: 'Theme Park',
          department: 'Tour Operations',
          manager: { value: '26118915', $ref: '../Users/26118915', displayName: 'John Smith' },
        },
      });
      const { id, meta: _meta, schemas: _schemas, ...made } = await create(whole);
      const { schemas: _own, ...sent } = whole;
      expect(made).toEqual(sent);
      expect((await scim.get(`${SCIM_USERS}/${id}`)).body).toMatchObject(sent);
    });

    it('§4.2 members of a group are users, whose groups are read-only', async () => {
      const member = await create({ displayName: 'Member' });
      const made = await scim.post(SCIM_GROUPS, {
        schemas: [GROUP_SCHEMA],
        displayName: 'Tour Guides',
        members: [{ value: member.id }],
      });
      expect([made.status, made.body]).toMatchObject([
        201,
        {
          displayName: 'Tour Guides',
          members: [
            {
              value: member.id,
              $ref: `https://castellan.example${SCIM_USERS}/${member.id}`,
              type: 'User',
              display: 'Member',
            },
          ],
        },
      ]);
      const put = await scim.put(`${SCIM_USERS}/${member.id}`, user({ groups: [] }));
      expect(put.body.groups).toMatchObject([{ value: made.body.id, display: 'Tour Guides', type: 'direct' }]);
      for (const members of [
        [{ value: randomUUID() }],
        [{ value: 'nonsense' }],
        [{ type: 'User' }],
        [{ value: made.body.id, type: 'Group' }],
      ]) {
        const refused = await scim.send(
          'PATCH',
          `${SCIM_GROUPS}/${made.body.id}`,
          patchBody({ op: 'add', path: 'members', value: members }),
        );
        expect([members, refused.status, refused.body.scimType]).toEqual([members, 400, 'invalidValue']);
      }
      const nameless = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA] });
      expect([nameless.status, nameless.body.scimType]).toEqual([400, 'invalidValue']);
      const twice = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'tour guides' });
      expect([twice.status, twice.body.scimType]).toEqual([409, 'uniqueness']);
    });

    it('§5 the service provider configuration tells the truth', async () => {
      const { status, body } = await scim.get(`${SCIM}/ServiceProviderConfig`);
      expect([status, body]).toMatchObject([
        200,
        {
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
          patch: { supported: true },
          bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
          filter: { supported: true, maxResults: 1000 },
          changePassword: { supported: false },
          sort: { supported: true },
          etag: { supported: true },
          pagination: { cursor: true, index: true },
          authenticationSchemes: [
            { type: 'oauthbearertoken', name: expect.any(String), description: expect.any(String) },
          ],
          meta: {
            resourceType: 'ServiceProviderConfig',
            location: `https://castellan.example${SCIM}/ServiceProviderConfig`,
          },
        },
      ]);
    });

    it('§6 resource types', async () => {
      const { body } = await scim.get(`${SCIM}/ResourceTypes`);
      expect(body).toMatchObject({ totalResults: 2, startIndex: 1, itemsPerPage: 2 });
      for (const type of body.Resources) {
        expect(type).toMatchObject({
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
          id: type.name,
          endpoint: `/${type.name}s`,
        });
        expect((await scim.get(`${SCIM}/ResourceTypes/${type.id}`)).body).toEqual(type);
        expect((await scim.get(`${SCIM}/Schemas/${type.schema}`)).status).toBe(200);
        for (const { schema } of type.schemaExtensions)
          expect((await scim.get(`${SCIM}/Schemas/${schema}`)).status).toBe(200);
        expect((await scim.get(SCIM + type.endpoint)).status).toBe(200);
      }
      expect((await scim.get(`${SCIM}/ResourceTypes/Nonsense`)).status).toBe(404);
    });

    it('§7 schemas: every attribute with its characteristics', async () => {
      const { body } = await scim.get(`${SCIM}/Schemas`);
      expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual([
        USER_SCHEMA,
        ENTERPRISE_SCHEMA,
        GROUP_SCHEMA,
      ]);
      const check = (attribute: Record<string, unknown>) => {
        expect(attribute).toMatchObject({
          name: expect.stringMatching(/^\$?[A-Za-z][\w-]*$/),
          type: expect.stringMatching(/^(string|boolean|decimal|integer|dateTime|reference|binary|complex)$/),
          multiValued: expect.any(Boolean),
          description: expect.any(String),
          required: expect.any(Boolean),
          mutability: expect.stringMatching(/^(readOnly|readWrite|immutable|writeOnly)$/),
          returned: expect.stringMatching(/^(always|never|default|request)$/),
        });
        if (attribute['type'] === 'reference') expect(attribute['referenceTypes']).toBeInstanceOf(Array);
        for (const each of (attribute['subAttributes'] as Record<string, unknown>[] | undefined) ?? []) check(each);
      };
      for (const schema of body.Resources) {
        schema.attributes.forEach(check);
        expect((await scim.get(`${SCIM}/Schemas/${schema.id}`)).body).toEqual(schema);
      }
      expect((await scim.get(`${SCIM}/Schemas/urn:nonsense`)).status).toBe(404);
    });
  });

  describe('RFC 7644', () => {
    it('§2 every endpoint needs a token', async () => {
      for (const path of [
        '/Users',
        '/Groups',
        '/ServiceProviderConfig',
        '/ResourceTypes',
        '/Schemas',
        `/Users/${randomUUID()}`,
      ]) {
        const refused = await app.anonymous.get(SCIM + path);
        expect([path, refused.status, refused.body.schemas, refused.headers.get('www-authenticate')]).toEqual([
          path,
          401,
          [ERROR_SCHEMA],
          'Bearer realm="castellan"',
        ]);
      }
    });

    it('§3.1, §8.1 takes and sends application/scim+json, and takes application/json', async () => {
      for (const type of ['application/scim+json', 'application/json', 'application/scim+json; charset=utf-8']) {
        const made = await scim.send('POST', SCIM_USERS, {
          raw: JSON.stringify(user()),
          headers: { 'content-type': type },
        });
        expect([type, made.status, made.headers.get('content-type')]).toEqual([
          type,
          201,
          'application/scim+json; charset=utf-8',
        ]);
      }
      const other = await scim.send('POST', SCIM_USERS, {
        raw: '<a/>',
        headers: { 'content-type': 'application/xml' },
      });
      expect([other.status, other.body.schemas]).toEqual([415, [ERROR_SCHEMA]]);
    });

    it('§3.5.1 a group is replaced as a whole, and §3.4.3 found by a search in the body', async () => {
      const [first, second] = [await create(), await create()];
      const group = { schemas: [GROUP_SCHEMA], displayName: 'Sales', members: [{ value: first.id }] };
      const { id } = (await scim.post(SCIM_GROUPS, group)).body;
      const replacement = { ...group, displayName: 'Sales North', members: [{ value: second.id }] };
      const replaced = await scim.put(`${SCIM_GROUPS}/${id}`, replacement);
      expect([replaced.status, replaced.body.displayName]).toEqual([200, 'Sales North']);
      expect((replaced.body.members as { value: string }[]).map(({ value }) => value)).toEqual([second.id]);
      const search = async (name: string) =>
        scim.post(`${SCIM_GROUPS}/.search`, {
          schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
          filter: `displayName eq "${name}"`,
          count: 10,
        });
      const found = await search('Sales North');
      expect([found.status, found.body.totalResults, found.body.Resources[0].id]).toEqual([200, 1, id]);
      expect((await search('Sales')).body.totalResults).toBe(0);
    });

    it('§3.3 201 with Location, ETag and the whole resource', async () => {
      const made = await scim.post(SCIM_USERS, user({ title: 'T' }));
      expect([made.status, made.headers.get('location'), made.headers.get('etag')]).toEqual([
        201,
        made.body.meta.location,
        made.body.meta.version,
      ]);
      expect((await scim.get(new URL(made.headers.get('location')!).pathname)).body).toEqual(made.body);
    });

    it.each([
      ['GET', '/Users/nonsense', 404],
      ['GET', `/Users/${randomUUID()}`, 404],
      ['GET', `/Groups/${randomUUID()}`, 404],
      ['PUT', `/Users/${randomUUID()}`, 404],
      ['PATCH', `/Groups/${randomUUID()}`, 404],
      ['DELETE', `/Users/${randomUUID()}`, 404],
      ['GET', '/Nonsense', 404],
      ['DELETE', '/Users', 405],
      ['POST', '/Bulk', 501],
      ['GET', '/Me', 501],
      ['PATCH', '/Me', 501],
      ['GET', '/Schemas?filter=id%20pr', 403],
      ['GET', '/ResourceTypes?filter=id%20pr', 403],
      ['GET', '/ServiceProviderConfig?filter=id%20pr', 403],
    ])('§3.2, §3.11, §3.12, §4: %s %s is %i, with an error of SCIM', async (method, path, status) => {
      const body =
        method === 'PUT'
          ? user()
          : method === 'PATCH'
            ? { schemas: [], Operations: [{ op: 'replace', path: 'displayName', value: 'x' }] }
            : undefined;
      const refused = await scim.send(method, SCIM + path, body ? { body } : {});
      expect([refused.status, refused.body]).toEqual([
        status,
        { schemas: [ERROR_SCHEMA], status: String(status), detail: expect.any(String), error: expect.any(String) },
      ]);
      expect(refused.headers.get('content-type')).toContain('application/scim+json');
    });

    it.each([
      ['{', 'invalidSyntax', 400],
      ['[]', undefined, 400],
      ['"text"', undefined, 400],
      ['{"schemas":[],"userName":{"__proto__":1}}', 'invalidSyntax', 400],
      [`{"userName":"${'x'.repeat(4_300_000)}"}`, undefined, 413],
      ['{"userName":{}}', 'invalidValue', 400],
      ['{"userName":"a","emails":[{"value":"no address"}]}', 'invalidValue', 400],
      ['{"userName":"a","active":"maybe"}', 'invalidValue', 400],
      [`{"userName":"${'x'.repeat(400)}"}`, 'invalidValue', 400],
    ])('§3.12 the body %.30s is refused', async (raw, scimType, status) => {
      const refused = await scim.send('POST', SCIM_USERS, {
        raw,
        headers: { 'content-type': 'application/scim+json' },
      });
      expect([refused.status, refused.body]).toMatchObject([
        status,
        { schemas: [ERROR_SCHEMA], status: String(status) },
      ]);
      if (scimType) expect(refused.body.scimType).toBe(scimType);
    });

    it('§3.4.2 a list response', async () => {
      const { body } = await scim.get(`${SCIM_USERS}?count=1`);
      expect(body).toEqual({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: expect.any(Number),
        startIndex: 1,
        itemsPerPage: 1,
        Resources: [expect.objectContaining({ schemas: [USER_SCHEMA] })],
      });
    });

    it('§3.5.1 PUT keeps id and creation, ignores read-only attributes, and creates nothing', async () => {
      const { id, meta, userName } = await create({ title: 'T' });
      const put = await scim.put(`${SCIM_USERS}/${id}`, {
        schemas: [USER_SCHEMA],
        id: randomUUID(),
        userName,
        meta: { created: '1999-01-01T00:00:00Z' },
      });
      expect([put.status, put.body]).toMatchObject([200, { id, meta: { created: meta.created } }]);
      const taken = await create();
      const refused = await scim.put(`${SCIM_USERS}/${id}`, user({ userName: taken.userName }));
      expect([refused.status, refused.body.scimType]).toEqual([409, 'uniqueness']);
    });

    it('§3.6 DELETE is 204 without a body; then 404; the userName is free again', async () => {
      const { id, userName } = await create();
      const deleted = await scim.delete(`${SCIM_USERS}/${id}`);
      expect([deleted.status, deleted.text]).toEqual([204, '']);
      expect((await scim.delete(`${SCIM_USERS}/${id}`)).status).toBe(404);
      expect((await scim.post(SCIM_USERS, user({ userName }))).status).toBe(201);
    });

    it('§3.9 attributes in the response of POST, PUT and PATCH', async () => {
      const made = await scim.post(`${SCIM_USERS}?attributes=userName`, user({ title: 'T' }));
      expect(Object.keys(made.body)).toEqual(['schemas', 'id', 'userName']);
      const patched = await scim.send(
        'PATCH',
        `${SCIM_USERS}/${made.body.id}?excludedAttributes=meta`,
        patchBody({ op: 'add', path: 'title', value: 'U' }),
      );
      expect(['meta' in patched.body, patched.body.title]).toEqual([false, 'U']);
    });

    it('§3.14 entity tags of groups', async () => {
      const made = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Tagged' });
      const path = `${SCIM_GROUPS}/${made.body.id}`;
      const headers = { 'if-match': made.body.meta.version as string };
      const rename = (displayName: string) =>
        scim.send('PATCH', path, { ...patchBody({ op: 'replace', path: 'displayName', value: displayName }), headers });
      const raced = await Promise.all(['A', 'B', 'C', 'D'].map(rename));
      expect(raced.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
      expect((await scim.delete(path, { headers })).status).toBe(412);
      const { headers: now } = await scim.get(path);
      expect((await scim.get(path, { headers: { 'if-none-match': now.get('etag')! } })).status).toBe(304);
    });

    it('§3.14 entity tags tell what is shown of other resources', async () => {
      const user = await scim.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName: `tagged-${randomUUID()}` });
      const userPath = `${SCIM_USERS}/${user.body.id}`;
      const members = [{ value: user.body.id }];
      const group = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Before', members });
      const groupPath = `${SCIM_GROUPS}/${group.body.id}`;
      const change = (path: string, at: string, value: string) =>
        scim.send('PATCH', path, patchBody({ op: 'replace', path: at, value }));
      const read = async (path: string, tag: string | null = null) => {
        const { status, headers } = await scim.get(path, { headers: tag === null ? {} : { 'if-none-match': tag } });
        return { status, tag: headers.get('etag')! };
      };
      for (const [path, rename] of [
        [userPath, () => change(groupPath, 'displayName', 'After')],
        [groupPath, () => change(userPath, 'displayName', 'Another')],
      ] as const) {
        const { tag } = await read(path);
        expect(await read(path, tag)).toEqual({ status: 304, tag });
        expect((await rename()).status).toBeLessThan(300);
        expect((await read(path, tag)).status).toBe(200);
        const alone = await read(`${path}?attributes=id`);
        expect(await read(`${path}?attributes=id`, alone.tag)).toEqual({ status: 304, tag: alone.tag });
      }
      const headers = { 'if-match': (await read(userPath)).tag };
      const named = { ...patchBody({ op: 'add', path: 'title', value: 'T' }), headers };
      expect((await scim.send('PATCH', userPath, named)).status).toBe(200);
      expect((await scim.send('PATCH', userPath, named)).status).toBe(412);
    });

    it('§3.5.2 PATCHes of one group that race without If-Match are all kept', async () => {
      const made = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Raced', externalId: 'e' });
      const path = `${SCIM_GROUPS}/${made.body.id}`;
      for (let round = 0; round < 8; round += 1) {
        const [displayName, externalId] = [`Raced ${round}`, `e-${round}`];
        const operations = Object.entries({ displayName, externalId }).map(([name, value]) => ({
          op: 'replace',
          path: name,
          value,
        }));
        const written = await Promise.all(operations.map((one) => scim.send('PATCH', path, patchBody(one))));
        expect(written.map(({ status }) => status)).toEqual([200, 200]);
        expect((await scim.get(path)).body).toMatchObject({ displayName, externalId });
      }
    });

    it('§3.5.2 a PATCH of a group whose last operation fails changes nothing', async () => {
      const member = await create();
      const made = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Atomic' });
      const path = `${SCIM_GROUPS}/${made.body.id}`;
      const refused = await scim.send(
        'PATCH',
        path,
        patchBody(
          { op: 'add', path: 'members', value: [{ value: member.id }] },
          { op: 'replace', path: 'displayName', value: 'Other' },
          { op: 'add', path: 'members', value: [{ value: randomUUID() }] },
        ),
      );
      expect(refused.status).toBe(400);
      expect((await scim.get(path)).body).toEqual(made.body);
    });
  });

  it('F276: neither another tenant nor another client sees or changes a group', async () => {
    const { body } = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Ours' });
    const path = `${SCIM_GROUPS}/${body.id}`;
    const member = await create();
    const elsewhere = await app.newTenant();
    for (const owner of [elsewhere, tenant]) {
      const foreign = await scimAs(app, await newScimClient(owner));
      expect((await foreign.get(path)).status).toBe(404);
      expect((await foreign.put(path, { schemas: [GROUP_SCHEMA], displayName: 'x' })).status).toBe(404);
      expect(
        (await foreign.send('PATCH', path, patchBody({ op: 'replace', path: 'displayName', value: 'x' }))).status,
      ).toBe(404);
      expect((await foreign.delete(path)).status).toBe(404);
      expect((await foreign.get(SCIM_GROUPS)).body.totalResults).toBe(0);
    }
    const foreign = await scimAs(app, await newScimClient(elsewhere));
    const own = await foreign.post(SCIM_GROUPS, {
      schemas: [GROUP_SCHEMA],
      displayName: 'Ours',
      members: [{ value: member.id }],
    });
    expect(own.status).toBe(400);
  });
});
