import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyTenant } from '../../../../src/contexts/audit/verify.ts';
import { openSession } from '../../../../src/contexts/identity/sign-in.ts';
import { basisNow } from '../../../../src/contexts/identity/vouching.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import {
  attachTenantAsOperator,
  detachTenantAsOperator,
  recoverOrgAdminAsOperator,
  suspendOrgAdminAsOperator,
} from '../../../../src/app/cli/organization-commands.ts';
import { PASSWORD, startApp, type TestApp } from '../../../dsl/app.ts';
import { castellan as castellanCommand } from '../../../dsl/command-line.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';
import { codeOf, login } from '../../../dsl/second-factor.ts';

const RECOVERY = '/api/v1/recovery/reset';
const LOGIN = '/api/v1/org/auth/login';
const CONFIGS = '/api/v1/org/sso-configs';
const recoveryKey = 'a-recovery-key-for-tests';
/** A provider that is not reachable. */
const provider = { issuerUrl: 'https://idp.invalid', clientId: 'castellan', clientSecret: 'hush-hush' };

let app: TestApp;
let north: TestOrganization;
beforeAll(async () => {
  app = await startApp({ recoveryKey });
});
afterAll(() => app.close());
beforeEach(async () => {
  north = await newOrganization(app);
});

const reset = (email: string, over: object = {}, headers: Record<string, string> = {}) =>
  app.anonymous.post(RECOVERY, { recoveryKey, email, ...over }, { headers });
const signIn = (password: string, { email } = north) => app.anonymous.post(LOGIN, { email, password });
/** Recovered admins must choose another password before their first session. */
async function signInAnew(temporary: string, chosen = 'Another-Horse-8!') {
  const forced = await signIn(temporary);
  expect([forced.status, forced.body]).toEqual([
    200,
    {
      mustChangePassword: true,
      tempToken: expect.any(String),
      userId: expect.any(String),
      message: expect.any(String),
    },
  ]);
  const change = { tempToken: forced.body.tempToken as string, newPassword: chosen, confirmPassword: chosen };
  expect((await app.anonymous.post('/api/v1/org/auth/change-password', change)).status).toBe(200);
  return signIn(chosen);
}
const refresh = async (refreshToken: string) =>
  (await app.anonymous.post('/api/v1/auth/refresh', { refreshToken })).status;
const recovered = { success: true, tempPassword: expect.any(String), message: expect.any(String) };

/** Numbers of rows that an organization owns. */
const rowsOf = async (sql: string) =>
  (await app.services.database.owner.query<Record<string, string>>(sql, [north.organizationId])).rows;
const statuses = async () =>
  (await rowsOf('select status from org_admins where tenant_id = $1')).map(({ status }) => status);

async function requireSso(): Promise<void> {
  expect((await north.write('POST', CONFIGS, provider)).status).toBe(201);
  expect((await north.write('PUT', `${CONFIGS}/require`, { requireSso: true })).status).toBe(200);
}

async function suspendOwner(): Promise<void> {
  // An owner must remain.
  await orgAdminWithRole(app, north, 'org_owner');
  await suspendOrgAdminAsOperator(app.services, north);
  await app.settled();
}

describe("the recovery of an organization's admin", () => {
  it('admits an admin if single sign-on is required and the provider fails', async () => {
    await requireSso();
    const locked = await signIn(north.password);
    expect([locked.status, locked.body]).toEqual([403, expect.objectContaining({ error: 'sso required' })]);
    const { status, body } = await reset(north.email.toUpperCase());
    expect([status, body]).toEqual([200, recovered]);
    expect(body.message).toContain('no longer requires single sign-on');
    const signedIn = await signInAnew(body.tempPassword);
    expect([signedIn.status, signedIn.body.user]).toMatchObject([
      200,
      { email: north.email, role: 'org_owner', organizationId: north.organizationId },
    ]);
    // The configuration still exists, so that it can be fixed.
    expect((await app.as(signedIn.body.accessToken).get(CONFIGS)).body).toMatchObject({ total: 1, requireSso: false });
  });

  it('does not mention single sign-on if it was not required', async () => {
    expect((await reset(north.email)).body.message).toBe(
      'sign in with the temporary password within seven days and choose another',
    );
  });

  it('ends every earlier session, and the password', async () => {
    const { accessToken, refreshToken } = (await signIn(north.password)).body;
    expect((await app.as(accessToken).get(CONFIGS)).status).toBe(200);
    const { tempPassword } = (await reset(north.email)).body;
    for (const token of [accessToken, north.token]) expect((await app.as(token).get(CONFIGS)).status).toBe(401);
    expect(await refresh(refreshToken)).toBe(401);
    expect((await signIn(north.password)).status).toBe(401);
    expect((await signIn(tempPassword)).status).toBe(200);
  });

  it('reactivates a suspended admin, and none of their sessions', async () => {
    await suspendOwner();
    const shut = await signIn(north.password);
    expect([shut.status, shut.body]).toEqual([403, expect.objectContaining({ error: 'account suspended' })]);
    expect((await north.owner.get(CONFIGS)).status).toBe(401);
    const { tempPassword } = (await reset(north.email)).body;
    expect(await statuses()).toEqual(['active', 'active']);
    const signedIn = await signInAnew(tempPassword);
    expect((await app.as(signedIn.body.accessToken).get(CONFIGS)).status).toBe(200);
    expect((await north.owner.get(CONFIGS)).status).toBe(401);
  });

  it('removes the second factor', async () => {
    const { secret } = (await north.write('POST', '/api/v1/org/mfa/setup', {})).body as { secret: string };
    expect((await north.write('POST', '/api/v1/org/mfa/setup/verify', { code: await codeOf(secret, -1) })).status).toBe(
      200,
    );
    expect((await signIn(north.password)).body.mfaRequired).toBe(true);
    const { accessToken } = (await signInAnew((await reset(north.email)).body.tempPassword)).body as {
      accessToken: string;
    };
    expect((await app.as(accessToken).get('/api/v1/org/mfa/status')).body).toEqual({
      enabled: false,
      backupCodesRemaining: 0,
      enabledAt: null,
    });
    expect(
      await rowsOf(`select owner from secrets where tenant_id = $1 and field in ('totpSecret', 'backupCodes')`),
    ).toEqual([]);
  });

  it('unlocks a locked admin', async () => {
    for (let turn = 0; turn < 5; turn += 1) await signIn('Wrong-Horse-7!');
    const locked = await signIn(north.password);
    expect([locked.status, locked.body]).toEqual([403, expect.objectContaining({ error: 'account locked' })]);
    expect((await signIn((await reset(north.email)).body.tempPassword)).status).toBe(200);
  });

  it('keeps the sessions of colleagues', async () => {
    const colleague = await orgAdminWithRole(app, north, 'org_viewer');
    expect((await reset(north.email)).status).toBe(200);
    expect((await colleague.client.get(CONFIGS)).status).toBe(200);
  });

  it('leaves no unused password in the vault', async () => {
    for (let turn = 0; turn < 2; turn += 1) await reset(north.email);
    expect(await rowsOf(`select owner from secrets where tenant_id = $1 and field = 'passwordHash'`)).toHaveLength(1);
  });

  it("is recorded in the organization's audit log", async () => {
    await requireSso();
    await suspendOwner();
    await reset(north.email);
    await app.settled();
    const actions = (
      await rowsOf('select action from audit_log where tenant_id = $1 and position > 0 order by sequence desc limit 4')
    ).map(({ action }) => action);
    expect(actions).toEqual([
      'organization.sso_requirement_set',
      'org_admin.reinstated',
      'org_admin.sessions_revoked',
      'org_admin.password_changed',
    ]);
    expect((await verifyTenant(app.services, north.organizationId)).valid).toBe(true);
  });

  it('compares the key before any lookup, and changes nothing without it', async () => {
    const refusals = async () =>
      (await app.services.database.owner.query(`select from events where type = 'RecoveryRefused'`)).rowCount!;
    const before = await refusals();
    for (const email of [north.email, 'nobody@mssp.example']) {
      const wrong = await reset(email, { recoveryKey: `${recoveryKey}x` }, { 'x-tenant-id': randomUUID() });
      expect([wrong.status, wrong.body]).toEqual([401, expect.objectContaining({ error: 'invalid credentials' })]);
    }
    const unknown = await reset(`nobody-${randomUUID()}@mssp.example`);
    expect([unknown.status, unknown.body]).toEqual([404, expect.objectContaining({ error: 'not found' })]);
    expect(await refusals()).toBe(before + 3);
    expect((await signIn(north.password)).status).toBe(200);
    expect((await north.owner.get(CONFIGS)).status).toBe(200);
  });

  it('applies to the tenant or organization in X-Tenant-ID, and to the tenant if it names none', async () => {
    const acme = await app.newTenant();
    const made = await acme.admin.post('/api/v1/admin/admin-users', {
      email: north.email,
      displayName: 'Owner',
      roleType: 'analyst',
      password: PASSWORD,
    });
    expect(made.status).toBe(201);
    const account = { tenantId: acme.tenantId, email: north.email };
    const unnamed: Record<string, string> = {};
    for (const headers of [unnamed, { 'x-tenant-id': acme.tenantId }]) {
      const { tempPassword } = (await reset(north.email, {}, headers)).body;
      expect((await login(app, account, tempPassword)).body).toMatchObject({ mustChangePassword: true });
    }
    expect((await signIn(north.password)).status).toBe(200);
    const { tempPassword } = (await reset(north.email, {}, { 'x-tenant-id': north.organizationId.toUpperCase() })).body;
    expect((await signIn(tempPassword)).status).toBe(200);
    expect((await login(app, account, tempPassword)).status).toBe(401);
  });

  it('finds nobody by the id of another tenant or organization', async () => {
    const south = await newOrganization(app);
    const acme = await app.newTenant();
    for (const named of [south.organizationId, acme.tenantId, randomUUID()])
      expect((await reset(north.email, {}, { 'x-tenant-id': named })).status).toBe(404);
    expect((await signIn(north.password)).status).toBe(200);
  });
});

describe('on the command line', () => {
  /** The output of `castellan org …`. */
  async function castellan(...words: string[]): Promise<string[]> {
    const { code, stdout, stderr } = await castellanCommand(['org', ...words, '--yes'], {}, (work) =>
      work(app.application),
    );
    if (code !== 0) throw new Error(stderr);
    return stdout.trimEnd().split('\n');
  }

  it('an admin is recovered without a key; the password is on the last line', async () => {
    await requireSso();
    for (const slug of [north.slug, north.organizationId]) {
      const lines = await castellan('recover', '--slug', slug, '--email', north.email);
      expect((await signIn(lines.at(-1)!)).status).toBe(200);
      expect(lines.some((line) => line.includes('no longer requires single sign-on'))).toBe(slug === north.slug);
    }
    await app.settled();
    expect((await north.owner.get(CONFIGS)).status).toBe(401);
  });

  it('a locked and suspended admin is recovered, too', async () => {
    for (let turn = 0; turn < 5; turn += 1) await signIn('Wrong-Horse-7!');
    await suspendOwner();
    const { password, liftedSso } = await recoverOrgAdminAsOperator(app.services, north);
    expect([(await signIn(password)).status, liftedSso]).toEqual([200, false]);
    expect(await rowsOf(`select owner from secrets where tenant_id = $1 and field = 'passwordHash'`)).toHaveLength(1);
  });

  it('an admin is suspended, except the last active owner', async () => {
    await expect(castellan('suspend', '--slug', north.slug, '--email', north.email)).rejects.toThrow(
      'the last active owner must remain',
    );
    await orgAdminWithRole(app, north, 'org_owner');
    await castellan('suspend', '--slug', north.slug, '--email', north.email);
    await app.settled();
    expect((await north.owner.get(CONFIGS)).status).toBe(401);
    expect((await signIn(north.password)).status).toBe(403);
    expect((await statuses()).sort()).toEqual(['active', 'suspended']);
  });

  it('an unknown name is not found', async () => {
    const south = await newOrganization(app);
    for (const work of [recoverOrgAdminAsOperator, suspendOrgAdminAsOperator]) {
      await expect(work(app.services, { slug: south.slug, email: north.email })).rejects.toThrow(
        'the organization has no such admin',
      );
      await expect(work(app.services, { slug: north.slug, email: 'nobody@mssp.example' })).rejects.toThrow(
        'the organization has no such admin',
      );
      await expect(work(app.services, { slug: 'nowhere', email: north.email })).rejects.toThrow(
        'there is no such organization',
      );
    }
    expect((await signIn(north.password)).status).toBe(200);
  });

  it('a detached tenant leaves the organization, and may join another', async () => {
    const [south, acme] = [await newOrganization(app), await app.newTenant()];
    const path = `/api/v1/org/tenants/${acme.tenantId}/sso-configs`;
    const of = { tenant: acme.tenantId };
    await attachTenantAsOperator(app.services, { slug: north.slug, ...of });
    const config = (await north.write('POST', path, provider)).body;
    expect((await north.owner.get(`${path}/${config.id}`)).status).toBe(200);
    expect((await acme.admin.get(`/api/v1/admin/sso-configs/${config.id}`)).body).toMatchObject({
      managedBy: 'organization',
      isEnabled: true,
    });
    const own = (await acme.admin.post('/api/v1/admin/sso-configs', { ...provider, name: 'Own', isEnabled: false }))
      .body;
    expect(own.managedBy).toBe('tenant');
    const through = async (configId: string) => {
      const { vouchedBy } = await basisNow(app.services.loader, 'tenant', acme.tenantId, configId);
      const session = {
        tenantId: acme.tenantId,
        subjectId: acme.adminId,
        subjectKind: 'admin',
        epoch: 0,
        role: 'super_admin',
        method: 'oidc',
        vouchedBy,
        actor: system('test'),
      } as const;
      return app.as((await openSession(app.services, session)).accessToken);
    };
    const session = await through(config.id);
    expect((await session.get('/api/v1/admin/me')).status).toBe(200);
    await castellan('detach', '--slug', north.slug, '--tenant', acme.tenantId);
    const asked = [
      north.owner.get(path),
      north.owner.get(`${path}/${config.id}`),
      north.owner.post(`${path}/test`, provider),
      north.write('POST', path, provider),
      north.write('PUT', `${path}/${config.id}`, { name: 'Mine' }),
      north.write('DELETE', `${path}/${config.id}`),
    ];
    const foreign = await north.owner.get(`/api/v1/org/tenants/${randomUUID()}/sso-configs`);
    for (const { status, body } of await Promise.all(asked))
      expect([status, { ...body, requestId: '' }]).toEqual([404, { ...foreign.body, requestId: '' }]);
    // Configurations from the organization are still visible, but admit nobody: neither a new sign-in nor an earlier
    // session.
    await app.settled();
    expect((await acme.admin.get(`/api/v1/admin/sso-configs/${config.id}`)).body).toMatchObject({
      id: config.id,
      managedBy: 'organization',
      isEnabled: false,
    });
    expect((await session.get('/api/v1/admin/me')).status).toBe(401);
    expect((await acme.admin.get('/api/v1/admin/me')).status).toBe(200);
    await expect(detachTenantAsOperator(app.services, { slug: north.slug, ...of })).rejects.toThrow(
      'does not belong to the organization',
    );
    await attachTenantAsOperator(app.services, { slug: south.slug, ...of });
    expect((await south.owner.get(path)).body.total).toBe(2);
    expect((await north.owner.get(path)).status).toBe(404);
    await expect(detachTenantAsOperator(app.services, { slug: north.slug, ...of })).rejects.toThrow(
      'does not belong to the organization',
    );
    await expect(attachTenantAsOperator(app.services, { slug: north.slug, ...of })).rejects.toThrow(
      'belongs to another organization',
    );
    // Enabled by the tenant's own admin, it is still the provider that the organization chose.
    expect((await acme.admin.put(`/api/v1/admin/sso-configs/${config.id}`, { isEnabled: true })).body).toMatchObject({
      managedBy: 'organization',
      isEnabled: true,
    });
    expect(await detachTenantAsOperator(app.services, { slug: south.slug, ...of })).toEqual({
      switchedOff: [config.name],
      stillEnabled: [],
    });
    await attachTenantAsOperator(app.services, { slug: north.slug, ...of });
    expect((await north.owner.get(path)).status).toBe(200);
  });
});
