import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole } from '../../../dsl/organization.ts';
import { orgLogin } from '../../../dsl/org-second-factor.ts';

const SESSIONS = '/api/v1/org/me/sessions';
interface Session {
  readonly id: string;
  readonly current: boolean;
}

describe("the sessions of an organization's admin", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  const sessionsOf = async (token: string) =>
    (await app.as(token).get(SESSIONS)).body as { sessions: Session[]; total: number };

  it('are listed newest first, with their origin, to their admin only', async () => {
    const north = await newOrganization(app);
    const { accessToken } = (await orgLogin(app, north)).body as { accessToken: string };
    const entry = {
      id: expect.any(String),
      method: 'password',
      ipAddress: '127.0.0.1',
      userAgent: expect.any(String),
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    };
    expect(await sessionsOf(accessToken)).toEqual({
      sessions: [
        { ...entry, current: true },
        { ...entry, current: false },
      ],
      total: 2,
    });
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    expect(await sessionsOf(viewer.token)).toMatchObject({ sessions: [{ current: true }], total: 1 });
    const acme = await app.newTenant();
    expect((await acme.admin.get('/api/v1/admin/me/sessions')).body.total).toBe(1);
  });

  it('end individually, except those of another admin', async () => {
    const north = await newOrganization(app);
    const { accessToken, refreshToken } = (await orgLogin(app, north)).body as {
      accessToken: string;
      refreshToken: string;
    };
    const other = (await sessionsOf(north.token)).sessions.find(({ current }) => !current)!;
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    const south = await newOrganization(app);
    for (const stranger of [viewer.client, south.owner])
      expect((await stranger.delete(`${SESSIONS}/${other.id}`)).status).toBe(404);
    expect((await north.owner.delete(`${SESSIONS}/${randomUUID()}`)).status).toBe(404);
    expect((await north.owner.delete(`${SESSIONS}/${other.id}`)).status).toBe(204);
    expect((await app.as(accessToken).get(SESSIONS)).status).toBe(401);
    expect((await app.anonymous.post('/api/v1/auth/refresh', { refreshToken })).status).toBe(401);
    expect((await sessionsOf(north.token)).total).toBe(1);
  });

  it('end all except the requesting one, which may repeat it', async () => {
    const north = await newOrganization(app);
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    for (let turn = 0; turn < 2; turn += 1) {
      const { accessToken } = (await orgLogin(app, north)).body as { accessToken: string };
      expect((await north.owner.delete(SESSIONS)).status).toBe(204);
      expect((await app.as(accessToken).get(SESSIONS)).status).toBe(401);
      expect(await sessionsOf(north.token)).toMatchObject({ sessions: [{ current: true }], total: 1 });
    }
    expect((await sessionsOf(viewer.token)).total).toBe(1);
  });
});
