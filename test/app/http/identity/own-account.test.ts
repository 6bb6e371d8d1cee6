import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminRoles, orgRoles } from '../../../../src/contexts/identity/domain/roles.ts';
import { PASSWORD, sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole } from '../../../dsl/organization.ts';

const ME = '/api/v1/admin/me';
const CHANGE = '/api/v1/admin/change-password';
const CHOSEN = 'Another-Horse-8!';

describe("an administrator's own account", () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it.each(adminRoles)('has a name and a password that a %s changes alone', async (role) => {
    const { token, adminId } = await app.adminWithRole(acme, role);
    const self = app.as(token);
    const renamed = await self.put(ME, { displayName: '  Ada L. ' });
    expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Ada L.']);
    expect((await self.get(ME)).body).toMatchObject({ id: adminId, displayName: 'Ada L.', roleType: role });
    expect((await self.put(ME, { displayName: 'x' })).status).toBe(400);

    const { email } = (await self.get(ME)).body;
    const login = (password: string) =>
      app.anonymous.post('/api/v1/auth/login', { tenantId: acme.tenantId, email, password });
    const elsewhere = app.as((await login(PASSWORD)).body.accessToken);
    expect((await elsewhere.get(ME)).status).toBe(200);

    const change = (currentPassword: string, newPassword: string, confirmPassword = newPassword) =>
      self.post(CHANGE, { currentPassword, newPassword, confirmPassword });
    expect((await change('Wrong-Horse-7!', CHOSEN)).status).toBe(401);
    for (const refused of [PASSWORD, 'Password123!', 'short'])
      expect((await change(PASSWORD, refused)).status).toBe(400);
    expect((await change(PASSWORD, CHOSEN, 'Different-Horse-9!')).status).toBe(400);
    expect((await change(PASSWORD, CHOSEN)).body).toEqual({ success: true, message: expect.any(String) });

    // This session goes on, every other one has ended, and the former password is worth nothing.
    expect((await self.get(ME)).status).toBe(200);
    expect((await elsewhere.get(ME)).status).toBe(401);
    expect((await login(PASSWORD)).status).toBe(401);
    expect((await login(CHOSEN)).status).toBe(200);
    expect((await change(PASSWORD, 'Third-Horse-99!')).status).toBe(401);
    expect((await app.anonymous.post(CHANGE, {})).status).toBe(401);
  });

  it.each(orgRoles)('has a name that an %s changes alone', async (role) => {
    const north = await newOrganization(app);
    const { client, adminId } = await orgAdminWithRole(app, north, role);
    await app.settled();
    const renamed = await client.put('/api/v1/org/me', { displayName: 'Grace H.' });
    expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Grace H.']);
    expect((await client.get('/api/v1/org/me')).body).toMatchObject({ id: adminId, role, displayName: 'Grace H.' });
  });

  it('is unlocked by whoever administers it, with a fresh proof where it administers others', async () => {
    const lockedOut = async (role: 'analyst' | 'admin') => {
      const { adminId } = await app.adminWithRole(acme, role);
      const { email } = (await acme.admin.get(`/api/v1/admin/admin-users/${adminId}`)).body;
      const login = (password: string) =>
        app.anonymous.post('/api/v1/auth/login', { tenantId: acme.tenantId, email, password });
      for (let n = 0; n < 5; n += 1) await login('Wrong-Horse-7!');
      expect((await login(PASSWORD)).body.error).toBe('account locked');
      await app.settled();
      return { path: `/api/v1/admin/admin-users/${adminId}`, login };
    };
    const analyst = await lockedOut('analyst');
    expect((await acme.admin.get(analyst.path)).body.status).toBe('locked');
    const { client: admin } = await app.adminWithRole(acme, 'admin');
    const unlocked = await admin.put(analyst.path, { status: 'active' });
    expect([unlocked.status, unlocked.body.status, unlocked.body.lockedUntil]).toEqual([200, 'active', null]);
    expect((await analyst.login(PASSWORD)).status).toBe(200);

    const other = await lockedOut('admin');
    const unproved = await app.as(acme.token).put(other.path, { status: 'active' });
    expect([unproved.status, unproved.body.error]).toEqual([403, 're-authentication required']);
    expect((await acme.admin.put(other.path, { status: 'active' })).body.status).toBe('active');
    expect((await other.login(PASSWORD)).status).toBe(200);
    expect((await acme.admin.put(`/api/v1/admin/admin-users/${randomUUID()}`, { status: 'active' })).status).toBe(404);
  });
});
