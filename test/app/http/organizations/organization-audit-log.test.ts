import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp } from '../../../dsl/app.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';

const AUDIT = '/api/v1/org/audit-log';
interface Entry {
  readonly action: string;
  readonly actorEmail: string | null;
  readonly resourceType: string;
}

describe("an organization's audit log", () => {
  let app: TestApp;
  let north: TestOrganization;
  beforeAll(async () => {
    app = await sharedApp();
    north = await newOrganization(app, 'North');
    await newOrganization(app, 'Secret South');
    await app.newTenant();
    await north.write('POST', '/api/v1/org/mfa/setup', {});
    await app.settled();
  });
  afterAll(() => app.close());

  it('shows what was done in the organization, newest first, by whom, and nothing of others', async () => {
    const { status, body, text } = await north.owner.get(AUDIT);
    expect(status).toBe(200);
    const [newest] = body.auditLogs as Entry[];
    expect(newest).toMatchObject({
      action: 'org_admin.mfa_setup_started',
      actorType: 'org_admin',
      actorEmail: north.email,
      resourceType: 'org_admin',
    });
    expect((body.auditLogs as Entry[]).at(-1)).toMatchObject({
      action: 'organization.created',
      actorType: 'system',
      sequence: 1,
    });
    expect(body.total).toBe(body.auditLogs.length);
    expect(text).not.toContain('Secret South');
  });

  it('is filtered and paged', async () => {
    const actionsOf = async (query: string) =>
      ((await north.owner.get(`${AUDIT}?${query}`)).body.auditLogs as Entry[]).map(({ action }) => action);
    expect(await actionsOf('action=organization.created')).toEqual(['organization.created']);
    expect(await actionsOf('resource_type=org_admin&page_size=1')).toEqual(['org_admin.mfa_setup_started']);
    expect(await actionsOf('end_date=2020-01-01T00:00:00Z')).toEqual([]);
    expect(
      (await north.owner.get(`${AUDIT}?start_date=2026-01-02T00:00:00Z&end_date=2026-01-01T00:00:00Z`)).status,
    ).toBe(400);
  });

  it('is verified', async () => {
    const { status, body } = await north.owner.get(`${AUDIT}/verify`);
    expect([status, body]).toEqual([
      200,
      {
        valid: true,
        entriesChecked: expect.any(Number),
        firstInvalidSequence: null,
        reason: null,
        verifiedAt: expect.any(String),
      },
    ]);
    expect(body.entriesChecked).toBeGreaterThan(3);
  });

  it('is readable by owners and admins, not by viewers', async () => {
    const admin = await orgAdminWithRole(app, north, 'org_admin');
    const viewer = await orgAdminWithRole(app, north, 'org_viewer');
    for (const path of [AUDIT, `${AUDIT}/verify`]) {
      expect((await admin.client.get(path)).status).toBe(200);
      expect((await viewer.client.get(path)).status).toBe(403);
    }
  });
});
