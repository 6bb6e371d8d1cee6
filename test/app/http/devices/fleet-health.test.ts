import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf } from '../../../dsl/enrolled-device.ts';

describe('the health of the fleet', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());
  const health = async () => (await acme.admin.get('/api/v1/admin/fleet-health')).body;
  const enroll = async (over: Record<string, unknown>) => {
    const { client, ...device } = await enrolledDevice(app, acme, over);
    client.close();
    return device;
  };

  it('starts with an empty fleet', async () => {
    expect(await health()).toEqual({
      totalDevices: 0,
      activeDevices: 0,
      staleDevices: 0,
      revokedDevices: 0,
      enrollment: { enrolledUsers: 0, totalUsers: 0, rate: 0, pendingTokens: 0 },
      byBrowser: {},
      byOs: {},
      byExtensionVersion: {},
    });
  });

  it('counts devices by status, people by enrollment, and unused tokens', async () => {
    await enroll({ browserType: 'chrome', osType: 'linux', extensionVersion: '2.0.0' });
    const old = await enroll({ browserType: 'edge', osType: 'windows', extensionVersion: '2.0.0' });
    const gone = await enroll({ browserType: 'safari', osType: 'macos', extensionVersion: '1.0.0' });
    await enroll({ browserType: 'chrome', osType: undefined, extensionVersion: '2.1.0' });
    await acme.admin.put(`/api/v1/admin/devices/${gone.deviceId}/revoke`);
    await acme.admin.post('/api/v1/admin/users', { email: 'ada@corp.example', displayName: 'Ada' });
    await enrollmentTokenOf(acme);
    await enrollmentTokenOf(acme);
    await app.services.database.owner.query(
      `update devices set enrolled_at = now() - interval '20 days' where device_id = $1`,
      [old.deviceId],
    );
    expect(await health()).toEqual({
      totalDevices: 4,
      activeDevices: 2,
      staleDevices: 1,
      revokedDevices: 1,
      enrollment: { enrolledUsers: 4, totalUsers: 5, rate: 0.8, pendingTokens: 2 },
      byBrowser: { chrome: 2, edge: 1 },
      byOs: { linux: 1, unknown: 1, windows: 1 },
      byExtensionVersion: { '2.0.0': 2, '2.1.0': 1 },
    });
  });

  it("uses the tenant's definition of stale", async () => {
    expect((await acme.admin.put('/api/v1/admin/settings', { staleDeviceDays: 30 })).status).toBe(200);
    expect(await health()).toMatchObject({ activeDevices: 3, staleDevices: 0 });
    expect((await acme.admin.get('/api/v1/admin/devices?status=stale')).body.total).toBe(0);
  });
});
