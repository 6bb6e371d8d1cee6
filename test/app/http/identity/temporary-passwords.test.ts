import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTenant } from '../../../../src/app/cli/tenants.ts';
import { tenant, tenantStream } from '../../../../src/contexts/tenants/domain/tenant.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { licenseKey } from '../../../dsl/licenses.ts';
import { login, secondFactorOf } from '../../../dsl/second-factor.ts';

const ADMINS = '/api/v1/admin/admin-users';
const recoveryKey = 'a-recovery-key-for-tests';
const DAY_MS = 86_400_000;
type Tenant = Pick<TestTenant, 'tenantId' | 'email'>;

describe('a temporary password', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp({ recoveryKey });
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const admins = async ({ tenantId }: Pick<Tenant, 'tenantId'>) =>
    (await app.services.loader.load(tenant, tenantStream(tenantId))).admins;
  /** As if it had been created so long ago that it has expired. */
  async function letExpire({ tenantId }: Tenant, adminId: string): Promise<void> {
    const command = defineCommand({
      name: 'ExpirePasswordForTest',
      aggregate: tenant,
      stream: () => tenantStream(tenantId),
      decide: (state) => {
        const { passwordRef } = state.admins.get(adminId)!;
        const passwordExpiresAt = new Date(Date.now() - 1_000).toISOString();
        return accept([
          {
            type: 'AdminPasswordChanged' as const,
            data: { adminId, passwordRef, mustChangePassword: true, reason: 'reset' as const, passwordExpiresAt },
          },
        ]);
      },
    });
    orThrow(await app.services.executor.execute(command, undefined, { tenantId, actor: system('test') }));
  }
  const made = async (): Promise<{
    id: string;
    email: string;
    temporaryPassword: string;
    temporaryPasswordExpiresAt: string;
  }> =>
    (
      await acme.admin.post(ADMINS, {
        email: `${randomUUID()}@acme.example`,
        displayName: 'Grace',
        roleType: 'analyst',
      })
    ).body;

  it('is valid for seven days, whoever created it and why', async () => {
    const before = Date.now();
    const grace = await made();
    const ends = async (adminId: string, of: Pick<Tenant, 'tenantId'> = acme) =>
      ((await admins(of)).get(adminId)!.passwordExpiresAt! - before) / DAY_MS;
    expect(await ends(grace.id)).toBeCloseTo(7, 2);
    expect(Date.parse(grace.temporaryPasswordExpiresAt)).toBe((await admins(acme)).get(grace.id)!.passwordExpiresAt);
    const reset = (await acme.admin.post(`${ADMINS}/${grace.id}/reset-password`)).body;
    expect(Date.parse(reset.temporaryPasswordExpiresAt)).toBe((await admins(acme)).get(grace.id)!.passwordExpiresAt);
    expect((await app.anonymous.post('/api/v1/recovery/reset', { recoveryKey, email: grace.email })).status).toBe(200);
    expect(await ends(grace.id)).toBeCloseTo(7, 2);
    const other = await createTenant(app.services, {
      name: 'Second',
      email: 'first@second.example',
      licenseKey: licenseKey({ clientName: 'Second' }),
      baseUrl: 'https://second.example',
    });
    expect(await ends([...(await admins(other)).keys()][0]!, other)).toBeCloseTo(7, 2);
  });

  it('is refused afterwards, and only a client with the right password learns why', async () => {
    const { id, email, temporaryPassword } = await made();
    const account = { ...acme, email };
    await letExpire(account, id);
    for (let n = 0; n < 7; n += 1) {
      // The right password does not count towards a lock.
      const answer = await login(app, account, temporaryPassword);
      expect([answer.status, answer.body]).toEqual([
        403,
        expect.objectContaining({ error: 'temporary password expired' }),
      ]);
    }
    expect((await login(app, account, 'Wrong-Horse-7!')).body).toEqual(
      expect.objectContaining({ error: 'invalid credentials' }),
    );
    const renewed = (await acme.admin.post(`${ADMINS}/${id}/reset-password`)).body.temporaryPassword;
    expect((await login(app, account, renewed)).body.mustChangePassword).toBe(true);
  });

  it('is refused before a second factor is requested', async () => {
    const tenant = await app.newTenant();
    const bob = await app.adminWithRole(tenant, 'analyst');
    const email = (await bob.client.get('/api/v1/admin/me')).body.email as string;
    await secondFactorOf(bob.client);
    const { temporaryPassword } = (await tenant.admin.post(`${ADMINS}/${bob.adminId}/reset-password`)).body;
    await letExpire(tenant, bob.adminId);
    expect((await login(app, { ...tenant, email }, temporaryPassword)).body).toMatchObject({
      error: 'temporary password expired',
    });
  });

  it('is replaced by the password that its owner chooses, which does not expire', async () => {
    const { id, email, temporaryPassword } = await made();
    const { tempToken } = (await login(app, { ...acme, email }, temporaryPassword)).body;
    const change = { tempToken, newPassword: 'Another-Horse-8!', confirmPassword: 'Another-Horse-8!' };
    expect((await app.anonymous.post('/api/v1/auth/change-password', change)).status).toBe(200);
    expect((await admins(acme)).get(id)!.passwordExpiresAt).toBeUndefined();
  });
});
