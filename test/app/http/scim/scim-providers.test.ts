import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  ENTERPRISE_SCHEMA,
  filtered,
  GROUP_SCHEMA,
  newScimClient,
  PATCH_SCHEMA,
  patchBody,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

describe('the request sequences that identity providers document', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  describe('Okta', () => {
    let okta: Client;
    let userId: string;
    beforeAll(async () => void (okta = await scimAs(app, await newScimClient(tenant, { profile: 'okta' }))));

    const oktaUser = (over: object = {}) => ({
      schemas: [USER_SCHEMA],
      userName: 'okta.user@okta.example',
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: 'okta.user@okta.example', type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
      ...over,
    });

    it('tests the connection with a page of users', async () => {
      const { status, body } = await okta.get(`${SCIM_USERS}?startIndex=1&count=2`);
      expect([status, body.Resources]).toEqual([200, []]);
    });

    it('looks for the user, and creates them', async () => {
      const found = await okta.get(
        filtered(SCIM_USERS, 'userName eq "okta.user@okta.example"', '&startIndex=1&count=100'),
      );
      expect([found.status, found.body.totalResults]).toEqual([200, 0]);
      const made = await okta.post(SCIM_USERS, oktaUser());
      expect([made.status, made.body]).toMatchObject([
        201,
        { userName: 'okta.user@okta.example', active: true, locale: 'en-US', externalId: '00ujl29u0le5T6Aj10h7' },
      ]);
      expect(made.body.password).toBeUndefined();
      userId = made.body.id;
    });

    it('reads the user, and replaces them with PUT', async () => {
      const { body } = await okta.get(`${SCIM_USERS}/${userId}`);
      const put = await okta.put(`${SCIM_USERS}/${userId}`, {
        ...body,
        name: { ...body.name, givenName: 'Another', middleName: 'Excited' },
        title: 'Lead',
      });
      expect([put.status, put.body]).toMatchObject([200, { title: 'Lead', name: { middleName: 'Excited' } }]);
    });

    it('deactivates and reactivates the user with a PATCH without a path', async () => {
      for (const active of [false, true]) {
        const patched = await okta.send(
          'PATCH',
          `${SCIM_USERS}/${userId}`,
          patchBody({ op: 'replace', value: { active } }),
        );
        expect([patched.status, patched.body.active]).toEqual([200, active]);
      }
    });

    it('pushes a group: creates it, renames it with its id in the value, changes its members', async () => {
      const missing = await okta.get(filtered(SCIM_GROUPS, 'displayName eq "Test SCIMv2"', '&startIndex=1&count=100'));
      expect(missing.body.totalResults).toBe(0);
      const made = await okta.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Test SCIMv2', members: [] });
      expect(made.status).toBe(201);
      const path = `${SCIM_GROUPS}/${made.body.id}`;
      const patched = (...operations: object[]) => okta.send('PATCH', path, patchBody(...operations));
      const renamed = await patched({ op: 'replace', value: { id: made.body.id, displayName: 'Test SCIMv2b' } });
      expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Test SCIMv2b']);
      const added = await patched({
        op: 'add',
        path: 'members',
        value: [{ value: userId, display: 'okta.user@okta.example' }],
      });
      expect(added.body.members).toMatchObject([{ value: userId, display: 'Test User', type: 'User' }]);
      expect((await okta.get(`${SCIM_USERS}/${userId}`)).body.groups).toMatchObject([
        { value: made.body.id, display: 'Test SCIMv2b' },
      ]);
      const removed = await patched({ op: 'remove', path: `members[value eq "${userId}"]` });
      expect([removed.status, removed.body.members]).toEqual([200, undefined]);
      await patched({ op: 'add', path: 'members', value: [{ value: userId }] });
      const ofGroups = await patched({ op: 'remove', path: `members[value eq "${userId}" and type eq "Group"]` });
      expect(ofGroups.body.members.length).toBe(1);
      const ofUsers = await patched({ op: 'remove', path: `members[type eq "user" and value eq "${userId}"]` });
      expect([ofUsers.status, ofUsers.body.members]).toEqual([200, undefined]);
      const replaced = await patched({ op: 'replace', path: 'members', value: [{ value: userId }] });
      expect(replaced.body.members.length).toBe(1);
      expect((await okta.delete(path)).status).toBe(204);
      expect((await okta.get(path)).status).toBe(404);
    });
  });

  describe('Entra ID', () => {
    let entra: Client;
    let userId: string;
    beforeAll(async () => void (entra = await scimAs(app, await newScimClient(tenant, { profile: 'entra' }))));
    const patched = (id: string, ...operations: object[]) =>
      entra.send('PATCH', `${SCIM_USERS}/${id}`, patchBody(...operations));

    it('tests the connection with a user that cannot exist', async () => {
      const { status, body } = await entra.get(filtered(SCIM_USERS, `userName eq "${randomUUID()}"`));
      expect([status, body]).toMatchObject([200, { totalResults: 0, Resources: [] }]);
    });

    it('creates a user', async () => {
      const made = await entra.post(SCIM_USERS, {
        schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
        externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
        userName: 'Test_User@entra.example',
        active: true,
        emails: [{ primary: true, type: 'work', value: 'Test_User_1@entra.example' }],
        meta: { resourceType: 'User' },
        name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
        roles: [],
        [ENTERPRISE_SCHEMA]: { department: 'Research', manager: 'unknown' },
      });
      expect(made.status).toBe(201);
      userId = made.body.id;
    });

    it('finds the user by userName and by externalId', async () => {
      for (const filter of [
        'userName eq "test_user@ENTRA.example"',
        'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
        'emails[type eq "work"].value eq "Test_User_1@entra.example"',
      ]) {
        const { body } = await entra.get(filtered(SCIM_USERS, filter));
        expect([filter, body.totalResults, body.Resources[0]?.id]).toEqual([filter, 1, userId]);
      }
    });

    it('changes several properties at once, with its own spelling', async () => {
      const { status, body } = await patched(
        userId,
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@entra.example' },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '425-555-0100' },
        { op: 'Add', path: `${ENTERPRISE_SCHEMA}:employeeNumber`, value: '12' },
        { op: 'Replace', path: 'extension_unknown', value: 'x' },
      );
      expect([status, body]).toMatchObject([
        200,
        {
          name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
          emails: [{ type: 'work', primary: true, value: 'updatedEmail@entra.example' }],
          phoneNumbers: [{ type: 'work', value: '425-555-0100' }],
          [ENTERPRISE_SCHEMA]: { department: 'Research', employeeNumber: '12' },
        },
      ]);
      expect((await tenant.admin.get(`/api/v1/admin/users/${userId}`)).body.email).toBe('updatedEmail@entra.example');
    });

    it('changes the userName', async () => {
      const { body } = await patched(userId, { op: 'Replace', path: 'userName', value: '5b50642d@entra.example' });
      expect(body.userName).toBe('5b50642d@entra.example');
      expect((await entra.get(filtered(SCIM_USERS, 'userName eq "test_user@entra.example"'))).body.totalResults).toBe(
        0,
      );
    });

    it('sets the manager', async () => {
      const { body } = await patched(userId, { op: 'Add', path: `${ENTERPRISE_SCHEMA}:manager`, value: 'm-1' });
      expect(body[ENTERPRISE_SCHEMA].manager).toEqual({ value: 'm-1' });
    });

    it('disables the user with a text', async () => {
      const { body } = await patched(userId, { op: 'Replace', path: 'active', value: 'False' });
      expect(body.active).toBe(false);
      expect((await tenant.admin.get(`/api/v1/admin/users/${userId}`)).body.status).toBe('inactive');
      await patched(userId, { op: 'Replace', value: { active: 'True' } });
    });

    it('manages a group without its members', async () => {
      const made = await entra.post(SCIM_GROUPS, {
        schemas: [GROUP_SCHEMA, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
        displayName: 'displayName',
        meta: { resourceType: 'Group' },
      });
      expect(made.status).toBe(201);
      const path = `${SCIM_GROUPS}/${made.body.id}`;
      const found = await entra.get(
        filtered(SCIM_GROUPS, 'displayName eq "displayName"', '&excludedAttributes=members'),
      );
      expect(found.body.totalResults).toBe(1);
      const renamed = await entra.send(
        'PATCH',
        path,
        patchBody({ op: 'Replace', path: 'displayName', value: '1879db59' }),
      );
      expect(renamed.status).toBeLessThan(205);
      const added = await entra.send('PATCH', path, {
        body: {
          schemas: [PATCH_SCHEMA],
          Operations: [{ op: 'Add', path: 'members', value: [{ $ref: null, value: userId }] }],
        },
      });
      expect(added.body.members).toMatchObject([{ value: userId }]);
      const checked = await entra.get(
        filtered(SCIM_GROUPS, `id eq "${made.body.id as string}" and members eq "${userId}"`),
      );
      expect(checked.body.totalResults).toBe(1);
      const plain = await entra.get(`${path}?excludedAttributes=members`);
      expect([plain.status, plain.body.members]).toEqual([200, undefined]);
      const removed = await entra.send(
        'PATCH',
        path,
        patchBody({ op: 'Remove', path: 'members', value: [{ $ref: null, value: userId }] }),
      );
      expect([removed.status, removed.body.members]).toEqual([200, undefined]);
      expect((await entra.delete(path)).status).toBe(204);
    });

    it('deletes the user, and creates them again', async () => {
      expect((await entra.delete(`${SCIM_USERS}/${userId}`)).status).toBe(204);
      expect((await entra.delete(`${SCIM_USERS}/${userId}`)).status).toBe(404);
      const again = await entra.post(SCIM_USERS, {
        schemas: [USER_SCHEMA],
        userName: '5b50642d@entra.example',
        emails: [{ type: 'work', value: 'updatedEmail@entra.example', primary: true }],
        active: true,
      });
      expect([again.status, again.body.id]).toEqual([201, userId]);
    });
  });
});
