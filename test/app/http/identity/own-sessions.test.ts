import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, type Application } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { sessionStream } from '../../../../src/contexts/identity/domain/session.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { login } from '../../../dsl/second-factor.ts';

const ME = '/api/v1/admin/me';
const SESSIONS = `${ME}/sessions`;
interface Session {
  readonly id: string;
  readonly current: boolean;
}

describe("an admin's own sessions", () => {
  let app: TestApp;
  let other: Application;
  beforeAll(async () => {
    app = await startApp({ recoveryKey: 'a-recovery-key-for-tests' });
    other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
  });
  afterAll(async () => {
    await other.stop();
    await app.close();
  });

  const signIn = async (tenant: TestTenant) =>
    (await login(app, tenant)).body as { accessToken: string; refreshToken: string };
  const sessionsOf = async (token: string) =>
    (await app.as(token).get(SESSIONS)).body as { sessions: Session[]; total: number };
  const meAt = (url: string, token: string) =>
    fetch(`${url}${ME}`, { headers: { authorization: `Bearer ${token}` } }).then(
      async (answer) => (await answer.arrayBuffer(), answer.status),
    );
  const atBothNodes = (token: string) => Promise.all([meAt(app.url, token), meAt(other.addresses.http, token)]);
  const refresh = async (refreshToken: string) =>
    (await app.anonymous.post('/api/v1/auth/refresh', { refreshToken })).status;

  /** The other node learns of it from the log, without a response to wait for: a short delay is allowed. */
  async function expectDead(token: string): Promise<void> {
    expect(await meAt(app.url, token)).toBe(401);
    await expect.poll(() => meAt(other.addresses.http, token), { timeout: 2_000, interval: 5 }).toBe(401);
  }

  it('are not lost by a refresh that names another tenant', async () => {
    const acme = await app.newTenant();
    const { refreshToken } = await signIn(acme);
    const stray = await app.anonymous.post(
      '/api/v1/auth/refresh',
      { refreshToken },
      { headers: { 'x-tenant-id': randomUUID() } },
    );
    expect(stray.status).toBe(401);
    // If it had been used, the next one would count as stolen after the grace period.
    const { rows } = await app.services.database.owner.query(
      'select spent_at from refresh_tokens where tenant_id = $1',
      [acme.tenantId],
    );
    expect(rows.filter(({ spent_at: spentAt }) => spentAt !== null)).toEqual([]);
    expect(await refresh(refreshToken)).toBe(200);
  });

  it('are listed newest first, with their origin, to their admin only', async () => {
    const tenant = await app.newTenant();
    const { accessToken } = await signIn(tenant);
    const { sessions, total } = await sessionsOf(accessToken);
    expect(total).toBe(2);
    expect(sessions).toEqual([
      {
        id: expect.any(String),
        current: true,
        method: 'password',
        ipAddress: '127.0.0.1',
        userAgent: expect.any(String),
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
      },
      {
        id: expect.any(String),
        current: false,
        method: 'setup',
        ipAddress: null,
        userAgent: 'test',
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
      },
    ]);
    const colleague = await app.adminWithRole(tenant, 'super_admin');
    expect((await sessionsOf(colleague.token)).total).toBe(1);
    const stranger = await app.newTenant();
    for (const client of [colleague.client, stranger.admin])
      expect((await client.delete(`${SESSIONS}/${sessions[0]!.id}`)).status).toBe(404);
    expect((await app.as(accessToken).get(ME)).status).toBe(200);
  });

  it('end individually, at once and on every node, with their refresh tokens', async () => {
    const tenant = await app.newTenant();
    const [kept, ended] = [await signIn(tenant), await signIn(tenant)];
    expect(await atBothNodes(ended.accessToken)).toEqual([200, 200]);
    const { id } = (await sessionsOf(ended.accessToken)).sessions.find(({ current }) => current)!;
    expect((await app.as(kept.accessToken).delete(`${SESSIONS}/${id}`)).status).toBe(204);
    await expectDead(ended.accessToken);
    expect(await refresh(ended.refreshToken)).toBe(401);
    expect(await atBothNodes(kept.accessToken)).toEqual([200, 200]);
    expect((await app.as(kept.accessToken).delete(`${SESSIONS}/${id}`)).status).toBe(404);
    expect((await app.as(kept.accessToken).delete(`${SESSIONS}/${randomUUID()}`)).status).toBe(404);
    expect((await sessionsOf(kept.accessToken)).sessions.map((session) => session.id)).not.toContain(id);
  });

  it('end all except the requesting one, also when repeated', async () => {
    const tenant = await app.newTenant();
    const [kept, ...others] = [await signIn(tenant), await signIn(tenant), await signIn(tenant)];
    for (let n = 0; n < 2; n += 1) {
      expect((await app.as(kept!.accessToken).delete(SESSIONS)).status).toBe(204);
      for (const { accessToken, refreshToken } of others) {
        await expectDead(accessToken);
        expect(await refresh(refreshToken)).toBe(401);
      }
      await expectDead(tenant.token);
      expect(await atBothNodes(kept!.accessToken)).toEqual([200, 200]);
      expect(await sessionsOf(kept!.accessToken)).toMatchObject({ total: 1, sessions: [{ current: true }] });
    }
    const later = await signIn(tenant);
    expect(await refresh(kept!.refreshToken)).toBe(200);
    expect((await app.as(later.accessToken).delete(SESSIONS)).status).toBe(204);
    await expectDead(kept!.accessToken);
  });

  it.each(['reset', 'suspension', 'deletion', 'recovery'] as const)(
    'all end at once with a %s of the account',
    async (what) => {
      const tenant = await app.newTenant();
      const bob = await app.adminWithRole(tenant, 'analyst');
      const { email } = (await bob.client.get(ME)).body as { email: string };
      const signedIn = (await login(app, { tenantId: tenant.tenantId, email })).body as {
        accessToken: string;
        refreshToken: string;
      };
      expect(await atBothNodes(signedIn.accessToken)).toEqual([200, 200]);
      const one = `/api/v1/admin/admin-users/${bob.adminId}`;
      const done = {
        reset: () => tenant.admin.post(`${one}/reset-password`),
        suspension: () => tenant.admin.put(one, { status: 'suspended' }),
        deletion: () => tenant.admin.delete(one),
        recovery: () =>
          app.anonymous.post('/api/v1/recovery/reset', { recoveryKey: 'a-recovery-key-for-tests', email }),
      };
      expect((await done[what]()).status).toBeLessThan(300);
      for (const token of [signedIn.accessToken, bob.token]) await expectDead(token);
      expect(await refresh(signedIn.refreshToken)).toBe(401);
      expect((await tenant.admin.get(ME)).status).toBe(200);
    },
  );

  it('use the current role of their admin', async () => {
    const tenant = await app.newTenant();
    const bob = await app.adminWithRole(tenant, 'admin');
    expect((await bob.client.get('/api/v1/admin/admin-users')).status).toBe(200);
    expect((await tenant.admin.put(`/api/v1/admin/admin-users/${bob.adminId}`, { roleType: 'viewer' })).status).toBe(
      200,
    );
    expect((await bob.client.get('/api/v1/admin/admin-users')).status).toBe(403);
  });

  it('are not sessions of an organization or another tenant, whatever a token says', async () => {
    const tenant = await app.newTenant();
    const stranger = await app.newTenant();
    const { sessionId } = (await app.services.accessTokens.verify(tenant.token))!;
    const forged = [
      await app.services.accessTokens.issue('access', stranger.tenantId, stranger.adminId, sessionId, 'super_admin'),
      await app.services.accessTokens.issue('org', tenant.tenantId, tenant.adminId, sessionId, 'org_owner'),
    ];
    for (const { token } of forged) expect((await app.as(token).get(ME)).status).toBe(401);
    expect((await app.as(forged[1]!.token).get('/api/v1/org/sso-configs')).status).toBe(401);
    expect(await app.services.store.readStreamTail(sessionStream(stranger.tenantId, sessionId), 1)).toEqual([]);
  });
});
