import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orgRoles } from '../../../../src/contexts/identity/domain/roles.ts';
import { sharedApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';
import { orgLogin } from '../../../dsl/org-second-factor.ts';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';

const ADMINS = '/api/v1/org/admins';
const CHOSEN = 'Another-Horse-8!';

describe("an organization's admins", () => {
  let app: TestApp;
  let north: TestOrganization;
  let ownerId: string;
  beforeAll(async () => {
    app = await sharedApp();
    north = await newOrganization(app);
    ownerId = (await north.owner.get('/api/v1/org/me')).body.id;
  });
  afterAll(() => app.close());

  const add = async (role: string, of = north, over: object = {}) =>
    of.write('POST', ADMINS, { email: `${randomUUID()}@mssp.example`, displayName: 'Grace', role, ...over });
  /** Signs in with the temporary password and chooses another one. */
  async function signedIn({ email, temporaryPassword }: { email: string; temporaryPassword: string }) {
    const forced = await orgLogin(app, { email, password: temporaryPassword });
    expect(forced.body).toMatchObject({ mustChangePassword: true });
    await app.anonymous.post('/api/v1/org/auth/change-password', {
      tempToken: forced.body.tempToken,
      newPassword: CHOSEN,
      confirmPassword: CHOSEN,
    });
    return app.as((await orgLogin(app, { email, password: CHOSEN })).body.accessToken);
  }

  it('need no new proof after 503, which did nothing, and one after every other outcome', async () => {
    const south = await newOrganization(app);
    const headers = { 'x-reauth-token': await south.proof() };
    const body = { email: `${randomUUID()}@mssp.example`, displayName: 'Again', role: 'org_admin' };
    const restore = unavailableOnce(app.services.executor, 'CreateOrgAdmin');
    const refused = await south.owner.post(ADMINS, body, { headers }).finally(restore);
    expect(refused.status).toBe(503);
    await expect.poll(async () => (await south.owner.post(ADMINS, body, { headers })).status).toBe(201);
    const other = { ...body, email: `${randomUUID()}@mssp.example` };
    expect((await south.owner.post(ADMINS, other, { headers })).status).toBe(403);
    const spoiled = { 'x-reauth-token': await south.proof() };
    expect((await south.owner.post(ADMINS, { ...other, role: 'nobody' }, { headers: spoiled })).status).toBe(400);
    expect((await south.owner.post(ADMINS, other, { headers: spoiled })).status).toBe(403);
  });

  it('can be added in every role, with a temporary password that is shown once', async () => {
    for (const role of orgRoles) {
      const added = await add(role);
      expect(added.status).toBe(201);
      expect(added.body).toMatchObject({
        role,
        status: 'active',
        mustChangePassword: true,
        organizationId: north.organizationId,
        temporaryPassword: expect.any(String),
        temporaryPasswordExpiresAt: expect.any(String),
      });
      const client = await signedIn(added.body);
      expect((await client.get('/api/v1/org/me')).body).toMatchObject({ role, mustChangePassword: false });
      const shown = await north.owner.get(`${ADMINS}/${added.body.id}`);
      expect(shown.text).not.toContain(added.body.temporaryPassword);
      expect(shown.body.lastLoginAt).toEqual(expect.any(String));
    }
    const listed = (await north.owner.get(ADMINS)).body;
    expect([listed.total, listed.admins.length]).toEqual([4, 4]);
    expect((await north.owner.get(`${ADMINS}/roles`)).body).toEqual({ roles: orgRoles, total: 3 });
    expect((await add('super_admin')).status).toBe(400);
    expect((await add('org_admin', north, { password: 'Password123!' })).status).toBe(400);
  });

  it('have an e-mail that administers one organization of the installation', async () => {
    const email = `${randomUUID()}@mssp.example`;
    expect((await add('org_viewer', north, { email })).status).toBe(201);
    expect((await add('org_viewer', north, { email: email.toUpperCase() })).status).toBe(409);
    const south = await newOrganization(app);
    expect((await add('org_viewer', south, { email })).status).toBe(409);
    // Another organization's accounts do not exist here.
    for (const [method, path] of [
      ['PUT', `${ADMINS}/${ownerId}`],
      ['DELETE', `${ADMINS}/${ownerId}`],
      ['POST', `${ADMINS}/${ownerId}/reset-password`],
    ] as const)
      expect((await south.write(method, path, method === 'PUT' ? { displayName: 'Mallory' } : undefined)).status).toBe(
        404,
      );
    expect((await south.owner.get(`${ADMINS}/${ownerId}`)).status).toBe(404);
  });

  it('lose their sessions with a suspension, a deletion and a reset, and their former role at once', async () => {
    const added = (await add('org_owner')).body;
    const client = await signedIn(added);
    const one = `${ADMINS}/${added.id}`;
    expect((await north.write('PUT', one, { role: 'org_viewer', displayName: 'Grace H.' })).body).toMatchObject({
      role: 'org_viewer',
      displayName: 'Grace H.',
    });
    expect((await client.get(ADMINS)).status).toBe(403);
    expect((await north.write('PUT', one, { status: 'suspended' })).body.status).toBe('suspended');
    expect((await client.get('/api/v1/org/me')).status).toBe(401);
    expect((await north.write('PUT', one, { status: 'active' })).body.status).toBe('active');

    const reset = await north.write('POST', `${one}/reset-password`);
    expect(reset.body).toMatchObject({ temporaryPassword: expect.any(String), message: expect.any(String) });
    expect((await orgLogin(app, { email: added.email, password: CHOSEN })).status).toBe(401);
    const again = await signedIn({ email: added.email, ...reset.body });

    const moved = `${randomUUID()}@mssp.example`;
    expect((await north.write('PUT', one, { email: moved })).body.email).toBe(moved);
    expect((await orgLogin(app, { email: moved, password: CHOSEN })).status).toBe(200);
    expect((await north.write('DELETE', one)).status).toBe(204);
    expect((await again.get('/api/v1/org/me')).status).toBe(401);
    expect((await orgLogin(app, { email: moved, password: CHOSEN })).status).toBe(401);
    expect((await north.owner.get(one)).status).toBe(404);
    // Both addresses are free again.
    expect((await add('org_viewer', north, { email: moved })).status).toBe(201);
    expect((await add('org_viewer', north, { email: added.email })).status).toBe(201);
  });

  it('keep an active owner, and nobody takes away their own rights', async () => {
    const lonely = await newOrganization(app);
    const self = `${ADMINS}/${(await lonely.owner.get('/api/v1/org/me')).body.id}`;
    const own = [
      await lonely.write('PUT', self, { role: 'org_viewer' }),
      await lonely.write('PUT', self, { status: 'suspended' }),
      await lonely.write('DELETE', self),
      await lonely.write('POST', `${self}/reset-password`),
    ];
    expect(own.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    expect((await lonely.owner.get('/api/v1/org/me')).body).toMatchObject({ role: 'org_owner', status: 'active' });
    // Two owners who remove each other at once: one of them remains.
    const second = await orgAdminWithRole(app, lonely, 'org_owner');
    const { subjectId, sessionId } = (await app.services.accessTokens.verify(second.token))!;
    const proof = await app.services.oneTimeTokens.issue(
      'org-reauth',
      { tenantId: lonely.organizationId, subjectId, payload: { sessionId } },
      300,
    );
    const answers = await Promise.all([
      lonely.write('DELETE', `${ADMINS}/${second.adminId}`),
      second.client.delete(self, { headers: { 'x-reauth-token': proof } }),
    ]);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
  });

  it('are unlocked by an owner', async () => {
    const added = (await add('org_admin')).body;
    for (let n = 0; n < 5; n += 1) await orgLogin(app, { email: added.email, password: 'Wrong-Horse-7!' });
    await app.settled();
    expect((await north.owner.get(`${ADMINS}/${added.id}`)).body.status).toBe('locked');
    expect((await north.write('PUT', `${ADMINS}/${added.id}`, { status: 'active' })).body.status).toBe('active');
    expect((await orgLogin(app, { email: added.email, password: added.temporaryPassword })).status).toBe(200);
  });

  it('leave their changes in the audit log', async () => {
    const added = (await add('org_admin')).body;
    await north.write('PUT', `${ADMINS}/${added.id}`, { role: 'org_viewer' });
    await north.write('DELETE', `${ADMINS}/${added.id}`);
    await app.settled();
    const { auditLogs } = (await north.owner.get('/api/v1/org/audit-log?resource_type=org_admin&page_size=100')).body;
    const actions = auditLogs
      .filter(({ resourceId }: { resourceId: string }) => resourceId === added.id)
      .map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['org_admin.deleted', 'org_admin.role_changed', 'org_admin.created']);
  });
});
