import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TooManyWaiting } from '../../../../src/contexts/identity/hashing-limiter.ts';
import { loginStream } from '../../../../src/contexts/identity/domain/login.ts';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newOrganization } from '../../../dsl/organization.ts';

const LOGIN = '/api/v1/auth/login';

describe('while the queue of password checks is full', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
  });
  beforeEach(async () => {
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const busy = async <T>(work: () => Promise<T>): Promise<T> => {
    const { passwords } = app.services;
    const refuse = () => {
      throw new TooManyWaiting();
    };
    const spies = [
      vi.spyOn(passwords, 'reserve').mockImplementation(refuse),
      vi.spyOn(passwords, 'hash').mockImplementation(async () => refuse()),
    ];
    try {
      return await work();
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  };
  const login = (over: object = {}) =>
    app.anonymous.post(LOGIN, { email: acme.email, password: PASSWORD, tenantId: acme.tenantId, ...over });
  const triesOf = async (tenantId: TestTenant['tenantId'], email: string) =>
    (await app.services.store.readStream(loginStream(tenantId, app.services.accountDigest(email)), { from: 0n }))
      .length;

  it('a sign-in is refused with a retry hint, and uses no attempt', async () => {
    await busy(async () => {
      for (let n = 0; n < 8; n += 1)
        expect(await login()).toMatchObject({ status: 503, body: { error: 'service unavailable' } });
    });
    expect(await triesOf(acme.tenantId, acme.email)).toBe(0);
    expect((await login()).status).toBe(200);
  });

  it("a sign-in of an organization's admin is refused too", async () => {
    const north = await newOrganization(app);
    const before = await triesOf(north.organizationId, north.email);
    await busy(async () =>
      expect(
        (await app.anonymous.post('/api/v1/org/auth/login', { email: north.email, password: north.password })).status,
      ).toBe(503),
    );
    expect(await triesOf(north.organizationId, north.email)).toBe(before);
  });

  it('a forced change of password keeps its token for later', async () => {
    const email = `new@${acme.tenantId.slice(0, 8)}.example`;
    const made = await acme.admin.post('/api/v1/admin/admin-users', { email, displayName: 'New', roleType: 'viewer' });
    expect(made.status).toBe(201);
    const { tempToken } = (await login({ email, password: made.body.tempPassword ?? made.body.temporaryPassword }))
      .body;
    expect(tempToken).toEqual(expect.any(String));
    const change = () =>
      app.anonymous.post('/api/v1/auth/change-password', {
        tempToken,
        newPassword: 'Another-Horse-8!',
        confirmPassword: 'Another-Horse-8!',
      });
    expect((await busy(change)).status).toBe(503);
    expect((await change()).status).toBe(200);
  });

  it('no admin is created', async () => {
    const body = {
      email: `x@${acme.tenantId.slice(0, 8)}.example`,
      displayName: 'Somebody',
      roleType: 'viewer',
      password: PASSWORD,
    };
    expect((await busy(() => acme.admin.post('/api/v1/admin/admin-users', body))).status).toBe(503);
    expect((await acme.admin.post('/api/v1/admin/admin-users', body)).status).toBe(201);
  });
});

describe('the right password of a suspended admin', () => {
  it('does not count towards a lock', async () => {
    const app = await startApp();
    const acme = await app.newTenant();
    const { adminId } = await app.adminWithRole(acme, 'viewer');
    const email = `viewer-${adminId.slice(0, 8)}@admins.example`;
    expect((await acme.admin.put(`/api/v1/admin/admin-users/${adminId}`, { status: 'suspended' })).status).toBe(200);
    for (let n = 0; n < 7; n += 1) {
      const { status, body } = await app.anonymous.post(LOGIN, { email, password: PASSWORD, tenantId: acme.tenantId });
      expect([n, status, body.error]).toEqual([n, 403, 'account suspended']);
    }
    await app.close();
  });
});
