import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { attachTenantAsOperator, detachTenantAsOperator } from '../../../../src/app/cli/organization-commands.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';
import { newOrganization, orgAdminWithRole, type TestOrganization } from '../../../dsl/organization.ts';

const TENANTS = '/api/v1/org/tenants';

describe("an organization's tenants", () => {
  let app: TestApp;
  let north: TestOrganization;
  const tenants: TestTenant[] = [];
  beforeAll(async () => {
    app = await sharedApp();
    north = await newOrganization(app);
    for (const name of ['Alpha', 'Beta', 'Gamma']) {
      const tenant = await app.newTenant({ name });
      tenants.push(tenant);
      await attachTenantAsOperator(app.services, { slug: north.slug, tenant: tenant.tenantId });
    }
    await app.newTenant({ name: 'Alphabet, of somebody else' });
  });
  afterAll(() => app.close());

  async function alert({ tenantId, admin }: TestTenant, resolves = false): Promise<void> {
    const alertId = randomUUID();
    const input = {
      alertId,
      alertType: 'password_reuse' as const,
      severity: 'critical' as const,
      title: 'Reuse',
      description: '',
      fingerprint: alertId,
      userId: null,
      deviceId: null,
      domain: null,
      url: null,
      cause: alertId,
      metadata: {},
    };
    orThrow(await app.services.executor.execute(raiseAlert, input, { tenantId, actor: system('test') }));
    await app.settled();
    if (resolves)
      await admin.put(`/api/v1/admin/alerts/${alertId}/resolve`, { status: 'resolved', resolution: 'done' });
  }

  it('are listed with their open alerts and stale devices, by name and page by page', async () => {
    const [alpha, beta] = tenants as [TestTenant, TestTenant];
    await alert(alpha);
    await alert(alpha, true);
    const [fresh, stale] = [await enrolledDevice(app, beta), await enrolledDevice(app, beta)];
    fresh.client.close();
    stale.client.close();
    await app.settled();
    await app.services.database.owner.query(
      `update devices set enrolled_at = now() - interval '400 days', last_seen_at = now() - interval '400 days' where device_id = $1`,
      [stale.deviceId],
    );
    // One alert of each is about its attachment.
    const { status, body } = await north.owner.get(TENANTS);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 3, page: 1, pageSize: 20, totalPages: 1 });
    expect(body.tenants).toMatchObject([
      { id: alpha.tenantId, name: 'Alpha', openAlerts: 2, openCriticalAlerts: 1, devices: 0, staleDevices: 0 },
      { id: beta.tenantId, name: 'Beta', openAlerts: 1, openCriticalAlerts: 0, devices: 2, staleDevices: 1 },
      { name: 'Gamma', licenseExpiresAt: expect.any(String), externalBaseUrl: 'https://castellan.example' },
    ]);
    const second = (await north.owner.get(`${TENANTS}?page_size=2&page=2`)).body;
    expect([second.tenants.map(({ name }: { name: string }) => name), second.total, second.totalPages]).toEqual([
      ['Gamma'],
      3,
      2,
    ]);
  });

  it('are found by a part of their name, and never those of others', async () => {
    const names = async (search: string) =>
      (await north.owner.get(`${TENANTS}?search=${encodeURIComponent(search)}`)).body.tenants.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names('ALPHA')).toEqual(['Alpha']);
    expect(await names('%')).toEqual([]);
    const south = await newOrganization(app);
    expect((await south.owner.get(TENANTS)).body).toEqual({
      tenants: [],
      total: 0,
      page: 1,
      pageSize: 20,
      totalPages: 0,
    });
    const { client: viewer } = await orgAdminWithRole(app, north, 'org_viewer');
    expect((await viewer.get(TENANTS)).body.total).toBe(3);
  });

  it('read in their own audit log that they were attached, and are alerted', async () => {
    const [alpha] = tenants as [TestTenant];
    await app.settled();
    const { auditLogs } = (await alpha.admin.get('/api/v1/admin/audit-log?action=tenant.joined_organization')).body;
    expect(auditLogs).toMatchObject([
      { action: 'tenant.joined_organization', details: { organizationId: north.organizationId } },
    ]);
    // Repeated by the operator: nothing new.
    await attachTenantAsOperator(app.services, { slug: north.slug, tenant: alpha.tenantId });
    await app.settled();
    const alertsAbout = async () =>
      ((await alpha.admin.get('/api/v1/admin/alerts')).body.alerts as { metadata: { change?: string } }[]).filter(
        ({ metadata }) => metadata.change === 'organization_attached',
      );
    await expect.poll(async () => (await alertsAbout()).length, { timeout: 20_000 }).toBe(1);
  });

  it('disappear at once when an operator detaches them', async () => {
    const [, , gamma] = tenants as [TestTenant, TestTenant, TestTenant];
    await detachTenantAsOperator(app.services, { slug: north.slug, tenant: gamma.tenantId });
    expect((await north.owner.get(TENANTS)).body.total).toBe(2);
  });
});
