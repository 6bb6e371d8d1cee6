import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { challenge, codeOf, login, secondFactorOf, verify } from '../../../dsl/second-factor.ts';

const ADMINS = '/api/v1/admin/admin-users';
const RECOVERY = '/api/v1/recovery/reset';
const recoveryKey = 'a-recovery-key-for-tests';
const draft = (over: object = {}) => ({
  email: `${randomUUID()}@acme.example`,
  displayName: 'Grace',
  roleType: 'analyst',
  ...over,
});
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('admin users', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp({ recoveryKey });
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  it('are listed newest first with their total and nothing else', async () => {
    const tenant = await app.newTenant();
    const { body: made } = await tenant.admin.post(ADMINS, draft());
    const { body } = await tenant.admin.get(ADMINS);
    expect(Object.keys(body)).toEqual(['adminUsers', 'total']);
    expect(body.total).toBe(2);
    expect((body.adminUsers as { id: string }[]).map(({ id }) => id)).toEqual([made.id, tenant.adminId]);
    expect(body.adminUsers[1]).toEqual({
      id: tenant.adminId,
      tenantId: tenant.tenantId,
      email: tenant.email,
      displayName: 'Owner',
      roleType: 'super_admin',
      status: 'active',
      mfaEnabled: false,
      mustChangePassword: false,
      mobileAccess: true,
      lastLoginAt: null,
      lockedUntil: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await tenant.admin.get(`${ADMINS}/roles`)).body).toEqual({
      roles: ['super_admin', 'admin', 'analyst', 'viewer'],
      total: 4,
    });
  });

  it('are created with a temporary password that must be changed, or with a password of their own', async () => {
    const temporary = await acme.admin.post(ADMINS, draft());
    expect([temporary.status, temporary.body]).toMatchObject([
      201,
      { temporaryPassword: expect.any(String), mustChangePassword: true, status: 'active', displayName: 'Grace' },
    ]);
    const { email, id, temporaryPassword } = temporary.body;
    expect((await login(app, { ...acme, email }, temporaryPassword)).body).toMatchObject({
      mustChangePassword: true,
      userId: id,
    });
    expect((await acme.admin.get(`${ADMINS}/${id}`)).text).not.toContain(temporaryPassword);
    const own = await acme.admin.post(ADMINS, draft({ password: PASSWORD }));
    expect(own.body).not.toHaveProperty('temporaryPassword');
    expect((await login(app, { ...acme, email: own.body.email })).body.user.roleType).toBe('analyst');
  });

  it.each([
    { email: 'nobody' },
    { roleType: 'executive' },
    { roleType: 'owner' },
    { displayName: 'x' },
    { password: 'too-short-1A!'.slice(0, 11) },
    { password: 'no-digits-at-all-A' },
    { password: 'Password123!' },
    { password: 'Grace-2026-!!', displayName: 'Grace' },
  ])('are not created with %j', async (wrong) => {
    expect((await acme.admin.post(ADMINS, draft(wrong))).status).toBe(400);
  });

  it('have an e-mail that is unique in their tenant regardless of case, also for fifty concurrent requests', async () => {
    const email = `ada-${randomUUID()}@acme.example`;
    const answers = await times(50, (n) =>
      acme.admin.post(ADMINS, draft({ email: n % 2 === 0 ? email : email.toUpperCase(), password: PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 49 }, () => 409)]);
    expect((await (await app.newTenant()).admin.post(ADMINS, draft({ email }))).status).toBe(201);
    const { id } = answers.find(({ status }) => status === 201)!.body;
    const second = (await acme.admin.post(ADMINS, draft())).body.id as string;
    expect((await acme.admin.put(`${ADMINS}/${second}`, { email: email.toUpperCase() })).status).toBe(409);
    expect((await acme.admin.put(`${ADMINS}/${id}`, { email: `moved-${email}` })).status).toBe(200);
    expect((await acme.admin.put(`${ADMINS}/${second}`, { email })).body.email).toBe(email);
    expect((await acme.admin.delete(`${ADMINS}/${second}`)).status).toBe(204);
    expect((await acme.admin.post(ADMINS, draft({ email }))).status).toBe(201);
  });

  it('are changed field by field, and sign in with the new e-mail', async () => {
    const { body: made } = await acme.admin.post(ADMINS, draft({ password: PASSWORD }));
    const one = `${ADMINS}/${made.id}`;
    expect((await acme.admin.put(one, { displayName: 'Hopper', unknown: 1 })).body).toMatchObject({
      displayName: 'Hopper',
      email: made.email,
      roleType: 'analyst',
      status: 'active',
    });
    const email = `new-${made.email}`;
    expect((await acme.admin.put(one, { email, roleType: 'viewer' })).body).toMatchObject({
      email,
      roleType: 'viewer',
    });
    expect((await login(app, { ...acme, email: made.email })).status).toBe(401);
    expect((await login(app, { ...acme, email })).status).toBe(200);
    expect((await acme.admin.put(one, { status: 'suspended' })).body.status).toBe('suspended');
    const refused = await login(app, { ...acme, email });
    expect([refused.status, refused.body]).toEqual([403, expect.objectContaining({ error: 'account suspended' })]);
    expect((await login(app, { ...acme, email }, 'Wrong-Horse-7!')).body).toEqual(
      expect.objectContaining({ error: 'invalid credentials' }),
    );
    expect((await acme.admin.put(one, { status: 'active' })).body.status).toBe('active');
    expect((await login(app, { ...acme, email })).status).toBe(200);
    for (const wrong of [{ status: 'locked' }, { roleType: 'executive' }, { displayName: 7 }, { email: 'x' }])
      expect((await acme.admin.put(one, wrong)).status).toBe(400);
  });

  it('may use the mobile app or not', async () => {
    const { body: made } = await acme.admin.post(ADMINS, draft());
    const flag = `${ADMINS}/${made.id}/mobile-access`;
    expect((await acme.admin.put(flag, { mobileAccess: false })).body).toMatchObject({
      id: made.id,
      mobileAccess: false,
    });
    expect((await acme.admin.put(flag)).body.mobileAccess).toBe(true);
    expect((await acme.admin.put(flag, {})).body.mobileAccess).toBe(false);
    expect((await acme.admin.put(flag, { mobileAccess: 'yes' })).status).toBe(400);
  });

  it('get a working temporary password after a reset, and the old password stops working', async () => {
    const { body: made } = await acme.admin.post(ADMINS, draft({ password: PASSWORD }));
    const { status, body } = await acme.admin.post(`${ADMINS}/${made.id}/reset-password`);
    expect([status, body]).toEqual([
      200,
      {
        temporaryPassword: expect.any(String),
        temporaryPasswordExpiresAt: expect.any(String),
        message: expect.any(String),
      },
    ]);
    expect((await login(app, { ...acme, email: made.email })).status).toBe(401);
    const forced = await login(app, { ...acme, email: made.email }, body.temporaryPassword);
    expect(forced.body).toMatchObject({ mustChangePassword: true, userId: made.id });
    // A second reset makes the token of the first one invalid.
    await acme.admin.post(`${ADMINS}/${made.id}/reset-password`);
    const change = {
      tempToken: forced.body.tempToken,
      newPassword: 'Another-Horse-8!',
      confirmPassword: 'Another-Horse-8!',
    };
    expect((await app.anonymous.post('/api/v1/auth/change-password', change)).status).toBe(401);
  });

  it('sign in with a new temporary password though the old one was tried too often', async () => {
    const { body: made } = await acme.admin.post(ADMINS, draft({ password: PASSWORD }));
    for (let n = 0; n < 5; n += 1) await login(app, { ...acme, email: made.email }, 'Wrong-Horse-7!');
    expect((await login(app, { ...acme, email: made.email })).status).toBe(403);
    const { body } = await acme.admin.post(`${ADMINS}/${made.id}/reset-password`);
    expect((await login(app, { ...acme, email: made.email }, body.temporaryPassword)).status).toBe(200);
  });

  it('leave no sealed password behind when their creation is refused', async () => {
    const secrets = async () =>
      (
        await app.services.database.owner.query('select count(*)::int as n from secrets where tenant_id = $1', [
          acme.tenantId,
        ])
      ).rows[0].n;
    const admin = (await app.adminWithRole(acme, 'admin')).client;
    const before = await secrets();
    expect((await admin.post(ADMINS, draft({ roleType: 'super_admin' }))).status).toBe(403);
    expect((await admin.post(ADMINS, draft({ email: acme.email }))).status).toBe(409);
    expect(await secrets()).toBe(before);
  });

  it('cannot take their own rights away, and the last active super admin stays', async () => {
    const tenant = await app.newTenant();
    const self = `${ADMINS}/${tenant.adminId}`;
    await app.adminWithRole(tenant, 'super_admin');
    for (const change of [{ roleType: 'admin' }, { status: 'suspended' }])
      expect((await tenant.admin.put(self, change)).status).toBe(409);
    expect((await tenant.admin.delete(self)).status).toBe(409);
    expect((await tenant.admin.put(self, { displayName: 'Still here' })).status).toBe(200);
  });

  it.each([
    ['delete', (client: TestTenant['admin'], id: string) => client.delete(`${ADMINS}/${id}`)],
    ['suspend', (client: TestTenant['admin'], id: string) => client.put(`${ADMINS}/${id}`, { status: 'suspended' })],
    ['demote', (client: TestTenant['admin'], id: string) => client.put(`${ADMINS}/${id}`, { roleType: 'viewer' })],
  ] as const)('keep one of two super admins who %s each other', async (_what, act) => {
    for (let round = 0; round < 5; round += 1) {
      const tenant = await app.newTenant();
      const bob = await app.adminWithRole(tenant, 'super_admin');
      const answers = await Promise.all([act(tenant.admin, bob.adminId), act(bob.client, tenant.adminId)]);
      const done = answers.filter(({ status }) => status < 300);
      expect(done).toHaveLength(1);
      for (const { status } of answers.filter((answer) => !done.includes(answer))) expect([401, 403]).toContain(status);
      const winner = answers[0]!.status < 300 ? tenant.admin : bob.client;
      const { adminUsers } = (await winner.get(ADMINS)).body as { adminUsers: { roleType: string; status: string }[] };
      expect(
        adminUsers.filter(({ roleType, status }) => roleType === 'super_admin' && status === 'active'),
      ).toHaveLength(1);
    }
  });

  it('of lower roles are administered by admins and nobody else', async () => {
    const admin = (await app.adminWithRole(acme, 'admin')).client;
    const made = await admin.post(ADMINS, draft({ roleType: 'viewer' }));
    expect(made.status).toBe(201);
    for (const roleType of ['admin', 'super_admin'])
      expect((await admin.post(ADMINS, draft({ roleType }))).status).toBe(403);
    expect((await admin.put(`${ADMINS}/${made.body.id}`, { roleType: 'admin' })).status).toBe(403);
    const self = `${ADMINS}/${acme.adminId}`;
    expect((await admin.get(self)).status).toBe(200);
    expect((await admin.put(self, { displayName: 'Hacked' })).status).toBe(403);
    expect((await admin.delete(self)).status).toBe(403);
    expect((await admin.post(`${self}/reset-password`)).status).toBe(403);
    expect((await admin.put(`${self}/mobile-access`, {})).status).toBe(403);
  });

  describe('are recovered', () => {
    const recover = (email: string, over: object = {}, headers: Record<string, string> = {}) =>
      app.anonymous.post(RECOVERY, { recoveryKey, email, ...over }, { headers });

    it('from any state: suspended, locked, with a second factor, signed in', async () => {
      const tenant = await app.newTenant();
      await app.adminWithRole(tenant, 'super_admin');
      const { email, id } = (await tenant.admin.post(ADMINS, draft({ password: PASSWORD, roleType: 'super_admin' })))
        .body;
      const account = { tenantId: tenant.tenantId, email, adminId: id };
      const grace = await app.reauthenticated((await login(app, account)).body.accessToken);
      const { secret } = await secondFactorOf(grace);
      const waiting = await challenge(app, account);
      for (let n = 0; n < 5; n += 1) await login(app, account, 'Wrong-Horse-7!');
      expect((await tenant.admin.put(`${ADMINS}/${id}`, { status: 'suspended' })).status).toBe(200);
      const { status, body } = await recover(email.toUpperCase());
      expect([status, body]).toEqual([
        200,
        { success: true, tempPassword: expect.any(String), message: expect.any(String) },
      ]);
      expect((await tenant.admin.get(`${ADMINS}/${id}`)).body).toMatchObject({
        status: 'active',
        mfaEnabled: false,
        mustChangePassword: true,
        lockedUntil: null,
      });
      expect((await grace.get('/api/v1/admin/me')).status).toBe(401);
      expect((await verify(app, waiting, { code: await codeOf(secret) })).status).toBe(401);
      const forced = await login(app, account, body.tempPassword);
      expect(forced.body).toMatchObject({ mustChangePassword: true, userId: id });
      const change = {
        tempToken: forced.body.tempToken,
        newPassword: 'Another-Horse-8!',
        confirmPassword: 'Another-Horse-8!',
      };
      expect((await app.anonymous.post('/api/v1/auth/change-password', change)).status).toBe(200);
      expect((await login(app, account, 'Another-Horse-8!')).body.accessToken).toEqual(expect.any(String));
      expect((await login(app, account, body.tempPassword)).status).toBe(401);
    });

    it('with the recovery key only, and every attempt is in the audit log of the installation', async () => {
      const refusals = async () =>
        (await app.services.database.owner.query(`select from events where type = 'RecoveryRefused'`)).rowCount!;
      const before = await refusals();
      for (const wrong of ['a-recovery-key-for-testz', recoveryKey.toUpperCase(), `${recoveryKey}x`, 'x']) {
        const answer = await recover(acme.email, { recoveryKey: wrong });
        expect([answer.status, answer.body]).toEqual([401, expect.objectContaining({ error: 'invalid credentials' })]);
      }
      expect((await recover(`${randomUUID()}@acme.example`)).status).toBe(404);
      expect((await recover(acme.email, { recoveryKey: undefined })).status).toBe(400);
      expect((await recover('nobody')).status).toBe(400);
      expect((await refusals()) - before).toBe(5);
      expect((await acme.admin.get('/api/v1/admin/me')).body.mustChangePassword).toBe(false);
    });

    it('in the named tenant if several tenants know the e-mail', async () => {
      const [one, two] = [await app.newTenant(), await app.newTenant()];
      const email = `both-${randomUUID()}@acme.example`;
      for (const tenant of [one, two]) await tenant.admin.post(ADMINS, draft({ email, password: PASSWORD }));
      const unnamed = await recover(email);
      expect([unnamed.status, unnamed.body.error]).toEqual([400, expect.stringContaining('X-Tenant-ID')]);
      expect((await recover(email, {}, { 'x-tenant-id': acme.tenantId })).status).toBe(404);
      expect((await recover(email, {}, { 'x-tenant-id': two.tenantId })).status).toBe(200);
      expect((await login(app, { tenantId: one.tenantId, email })).status).toBe(200);
      expect((await login(app, { tenantId: two.tenantId, email })).status).toBe(401);
    });
  });
});

describe('the recovery endpoint', () => {
  it('is not found without a configured key, whatever is sent; with one it is limited to five attempts', async () => {
    const without = await startApp();
    for (const body of [{}, { recoveryKey, email: 'x@acme.example' }, { recoveryKey: 7 }]) {
      const answer = await without.anonymous.post(RECOVERY, body);
      expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ error: 'not found' })]);
    }
    await without.close();
    const limited = await startApp({ recoveryKey, rateBudgets: {} });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1)
      statuses.push((await limited.anonymous.post(RECOVERY, { recoveryKey: 'wrong', email: 'x@acme.example' })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    await limited.close();
  });
});
