import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type Client, type TestApp } from '../../../dsl/app.ts';
import {
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

/** Clauses that no other test is about. docs/reference/scim-conformance.md lists all of them. */
describe('single clauses of RFC 7643 and RFC 7644', () => {
  let app: TestApp;
  let scim: Client;
  beforeAll(async () => {
    app = await sharedApp();
    scim = await scimAs(app, await newScimClient(await app.newTenant()));
  });
  afterAll(() => app.close());

  let number = 0;
  const user = (over: object = {}) => ({ schemas: [USER_SCHEMA], userName: `clause-${(number += 1)}`, ...over });
  const create = async (over: object = {}) => {
    const made = await scim.post(SCIM_USERS, user(over));
    expect([made.status, made.body]).toMatchObject([201, {}]);
    return made.body;
  };
  const group = async (over: object = {}) => {
    const body = { schemas: [GROUP_SCHEMA], displayName: `group-${(number += 1)}`, ...over };
    const made = await scim.post(SCIM_GROUPS, body);
    expect([made.status, made.body]).toMatchObject([201, {}]);
    return made.body;
  };
  const pathOf = (address: string) => new URL(address).pathname;

  describe('RFC 7643', () => {
    it('§2.3.2 a boolean is sent as true or false, however it came', async () => {
      const { id } = await create({ active: 'False', emails: [{ value: 'b@acme.example', primary: 'True' }] });
      const { body } = await scim.get(`${SCIM_USERS}/${id}`);
      expect([body.active, body.emails[0].primary]).toEqual([false, true]);
    });

    it('§2.3.7, §4.2 a GET of $ref returns the resource that it names', async () => {
      const member = await create();
      const made = await group({ members: [{ value: member.id }] });
      expect((await scim.get(pathOf(made.members[0].$ref))).body.id).toBe(member.id);
      const { body } = await scim.get(`${SCIM_USERS}/${member.id}`);
      expect((await scim.get(pathOf(body.groups[0].$ref))).body.id).toBe(made.id);
    });

    it('§3.1 meta.location is where the resource is, in lists too', async () => {
      const made = await create();
      const [listed] = (await scim.get(filtered(SCIM_USERS, `id eq "${made.id}"`))).body.Resources;
      expect(listed.meta).toEqual(made.meta);
      expect((await scim.get(pathOf(listed.meta.location))).body).toEqual(made);
    });
  });

  describe('RFC 7644', () => {
    it('§3.1 whoever accepts application/scim+json, application/json or anything gets application/scim+json', async () => {
      const { id } = await create();
      for (const accept of ['application/scim+json', 'application/json', '*/*']) {
        const { status, headers } = await scim.get(`${SCIM_USERS}/${id}`, { headers: { accept } });
        expect([accept, status, headers.get('content-type')]).toEqual([
          accept,
          200,
          'application/scim+json; charset=utf-8',
        ]);
      }
    });

    it('§3.3 read-only attributes of a POST are ignored', async () => {
      const made = await create({ id: 'x', groups: [{ value: 'x' }], meta: { location: 'https://x.example' } });
      expect([made.id === 'x', 'groups' in made, made.meta.location]).toEqual([
        false,
        false,
        `https://castellan.example${SCIM_USERS}/${made.id}`,
      ]);
    });

    it('§3.4.2 a list without results is 200 with a total of 0', async () => {
      const { status, body } = await scim.get(filtered(SCIM_USERS, 'userName eq "nobody"'));
      expect([status, body]).toMatchObject([
        200,
        { schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'], totalResults: 0 },
      ]);
    });

    it.each(['gt', 'ge', 'lt', 'le'])('§3.4.2.2 neither booleans nor binary values are ordered: %s', async (op) => {
      for (const [name, value] of [
        ['active', 'true'],
        ['x509Certificates.value', '"MIID"'],
        ['emails.primary', 'true'],
      ]) {
        const { status, body } = await scim.get(filtered(SCIM_USERS, `${name} ${op} ${value}`));
        expect([name, status, body.scimType]).toEqual([name, 400, 'invalidFilter']);
      }
    });

    it('§3.5.2 a PATCH with attributes gets 200 and a body', async () => {
      const { id } = await create();
      const body = patchBody({ op: 'replace', path: 'title', value: 'T' });
      const patched = await scim.send('PATCH', `${SCIM_USERS}/${id}?attributes=title`, body);
      expect([patched.status, patched.body]).toEqual([200, { schemas: [USER_SCHEMA], id, title: 'T' }]);
    });

    it('§3.6 a deleted resource is in no list, in no group, and gets 404 from every operation', async () => {
      const [gone, stays] = [await create(), await create()];
      const { id: groupId } = await group({ members: [{ value: gone.id }, { value: stays.id }] });
      await scim.delete(`${SCIM_USERS}/${gone.id}`);
      expect((await scim.get(filtered(SCIM_USERS, `id eq "${gone.id}"`))).body.totalResults).toBe(0);
      const { members } = (await scim.get(`${SCIM_GROUPS}/${groupId}`)).body;
      expect(members.map(({ value }: { value: string }) => value)).toEqual([stays.id]);
      const path = `${SCIM_USERS}/${gone.id}`;
      const answers = [
        await scim.get(path),
        await scim.put(path, user()),
        await scim.send('PATCH', path, patchBody({ op: 'replace', path: 'title', value: 'T' })),
        await scim.delete(path),
      ];
      expect(answers.map(({ status, body }) => [status, body.schemas])).toEqual(
        answers.map(() => [404, [ERROR_SCHEMA]]),
      );
    });

    it('§3.10 an attribute may be named with the URN of its schema, everywhere', async () => {
      const { id } = await create();
      const path = `${USER_SCHEMA}:name.givenName`;
      await scim.send('PATCH', `${SCIM_USERS}/${id}`, patchBody({ op: 'add', path, value: 'Ann' }));
      const { body } = await scim.get(
        filtered(SCIM_USERS, `${path} eq "Ann" and id eq "${id}"`, `&attributes=${path}&sortBy=${path}`),
      );
      expect(body.Resources).toEqual([{ schemas: [USER_SCHEMA], id, name: { givenName: 'Ann' } }]);
    });

    it('§3.13 there is no other version than v2', async () => {
      for (const version of ['v1', 'v3']) {
        const refused = await scim.get(`/scim/${version}/Users`);
        expect([version, refused.status]).toEqual([version, 404]);
      }
    });

    it.each(['Schemas', 'ResourceTypes'])('§4 pages, order and attributes do not apply to %s', async (name) => {
      const { body } = await scim.get(`/scim/v2/${name}`);
      const asked = await scim.get(`/scim/v2/${name}?startIndex=2&count=1&sortBy=id&attributes=id`);
      expect([asked.status, asked.body]).toEqual([200, body]);
    });

    it('§5, §7.8 userNames are compared in one Unicode form, without regard to case', async () => {
      const { id } = await create({ userName: 'Jürgen' });
      const decomposed = 'JU\u0308RGEN';
      const refused = await scim.post(SCIM_USERS, user({ userName: decomposed }));
      expect([refused.status, refused.body.scimType]).toEqual([409, 'uniqueness']);
      const { body } = await scim.get(filtered(SCIM_USERS, `userName eq "${decomposed}"`));
      expect(body.Resources.map((each: { id: string }) => each.id)).toEqual([id]);
    });
  });
});
