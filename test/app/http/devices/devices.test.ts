import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';

const path = '/api/v1/admin/devices';
const NOWHERE = '99999999-9999-4999-8999-999999999999';
/** Open to every authenticated device; the guard alone decides. */
const POLICIES = '/api/v1/ext/policies';

describe('devices over HTTP', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const ofAcme = (id: string, rest = '') => `${path}/${id}${rest}`;

  it('are shown as they enrolled', async () => {
    const device = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-shown' });
    const { status, body } = await acme.admin.get(ofAcme(device.deviceId));
    expect(status).toBe(200);
    expect(body).toEqual({
      id: device.deviceId,
      userId: device.userId,
      userEmail: `device-${device.deviceId}@placeholder.invalid`,
      deviceFingerprint: 'fp-shown',
      hostname: null,
      browserType: 'chrome',
      browserVersion: '131.0.1',
      osType: 'linux',
      osVersion: '6.1',
      extensionVersion: '2.0.0',
      agentVersion: null,
      status: 'active',
      certificateSerial: expect.stringMatching(/^[0-9A-F]{40}$/) as string,
      certificateExpiresAt: device.expiresAt,
      enrolledAt: expect.any(String) as string,
      lastSeenAt: null,
      wipeRequestedAt: null,
      wipeDeliveredAt: null,
      wipedAt: null,
      revokedAt: null,
      staleAlertsSilenced: false,
      staleAlertsSilencedUntil: null,
      suspended: false,
      besideDeviceId: null,
      enrollmentConfirmed: true,
      reenrollmentAllowed: false,
      telemetry: { lastSequence: null, missingBatches: 0, missing: [] },
      createdAt: body.enrolledAt,
      updatedAt: expect.any(String) as string,
    });
    device.client.close();
  });

  it('are listed by user and by status, newest first, in pages', async () => {
    const tenant = await app.newTenant();
    const first = await enrolledDevice(app, tenant);
    const second = await enrolledDevice(app, tenant);
    const third = await enrolledDevice(app, tenant);
    await tenant.admin.put(ofAcme(second.deviceId, '/revoke'));
    const ids = async (query: string) =>
      (await tenant.admin.get(`${path}?${query}`)).body.devices.map(({ id }: { id: string }) => id) as string[];
    expect(await ids('')).toEqual([third.deviceId, second.deviceId, first.deviceId]);
    expect(await ids(`user_id=${first.userId}`)).toEqual([first.deviceId]);
    expect(await ids('status=revoked')).toEqual([second.deviceId]);
    expect(await ids('status=active')).toEqual([third.deviceId, first.deviceId]);
    const page = (await tenant.admin.get(`${path}?page=2&page_size=2`)).body;
    expect(page).toMatchObject({ devices: [{ id: first.deviceId }], total: 3, page: 2, pageSize: 2, totalPages: 2 });
    expect((await tenant.admin.get(`${path}?status=lost`)).status).toBe(400);
    expect((await tenant.admin.get(`${path}?user_id=me`)).status).toBe(400);
    for (const { client } of [first, second, third]) client.close();
  });

  it('are stale after a week without contact, until the next contact', async () => {
    const tenant = await app.newTenant();
    const device = await enrolledDevice(app, tenant);
    const age = (column: string, days: number) =>
      app.services.database.owner.query(
        `update devices set ${column} = now() - make_interval(days => $2) where device_id = $1`,
        [device.deviceId, days],
      );
    const status = async () => (await tenant.admin.get(ofAcme(device.deviceId))).body.status as string;
    await age('enrolled_at', 6);
    expect(await status()).toBe('active');
    await age('enrolled_at', 8);
    expect(await status()).toBe('stale');
    expect((await tenant.admin.get(`${path}?status=stale`)).body.total).toBe(1);
    expect((await tenant.admin.get('/api/v1/admin/dashboard/policy-deployment')).body).toMatchObject({
      totalDevices: 0,
      staleDevices: 1,
      outdated: 0,
    });
    expect((await tenant.admin.get(`${path}?status=active`)).body.total).toBe(0);
    await age('last_seen_at', 1);
    expect(await status()).toBe('active');
    await age('last_seen_at', 9);
    expect(await status()).toBe('stale');
    device.client.close();
  });

  it('belong to one tenant: another finds none of them', async () => {
    const other = await app.newTenant();
    const { deviceId, client } = await enrolledDevice(app, acme);
    const { admin } = other;
    expect((await admin.get(path)).body.total).toBe(0);
    expect((await admin.get(ofAcme(deviceId))).status).toBe(404);
    for (const action of ['/revoke', '/wipe', '/silence-stale-alerts'])
      expect((await admin.put(ofAcme(deviceId, action), {})).status).toBe(404);
    expect((await admin.delete(ofAcme(deviceId))).status).toBe(404);
    for (const id of [NOWHERE, 'no-uuid']) expect((await acme.admin.put(ofAcme(id, '/revoke'))).status).toBe(404);
    expect((await client.get(POLICIES)).status).toBe(200);
    client.close();
  });

  it('are refused after a revocation, also on a connection that was just accepted', async () => {
    const device = await enrolledDevice(app, acme);
    const bystander = await enrolledDevice(app, acme);
    expect((await device.client.get(POLICIES)).status).toBe(200);
    const { status, body } = await acme.admin.put(ofAcme(device.deviceId, '/revoke'));
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: device.deviceId, status: 'revoked', revokedAt: expect.any(String) as string });
    const refused = await device.client.get(POLICIES);
    expect(refused).toMatchObject({ status: 401, body: { error: 'authentication required' } });
    expect((await bystander.client.get(POLICIES)).status).toBe(200);
    const again = await acme.admin.put(ofAcme(device.deviceId, '/revoke'));
    expect(again).toMatchObject({ status: 200, body: { revokedAt: body.revokedAt } });
    expect((await acme.admin.put(ofAcme(device.deviceId, '/wipe'))).status).toBe(409);
    device.client.close();
    bystander.client.close();
  });

  it('wait for a wipe with a certificate that still works', async () => {
    const device = await enrolledDevice(app, acme);
    const { status, body } = await acme.admin.put(ofAcme(device.deviceId, '/wipe'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'wipe_pending',
      wipeRequestedAt: expect.any(String) as string,
      wipedAt: null,
    });
    expect((await acme.admin.put(ofAcme(device.deviceId, '/wipe'))).body.wipeRequestedAt).toBe(body.wipeRequestedAt);
    expect((await device.client.get(POLICIES)).status).toBe(200);
    device.client.close();
  });

  it('have their stale alerts silenced, for a period or until that is undone', async () => {
    const device = await enrolledDevice(app, acme);
    const silence = (body?: unknown) => acme.admin.put(ofAcme(device.deviceId, '/silence-stale-alerts'), body);
    expect((await silence()).body).toMatchObject({ staleAlertsSilenced: true, staleAlertsSilencedUntil: null });
    const until = Date.parse((await silence({ untilDays: 7 })).body.staleAlertsSilencedUntil);
    expect(Math.abs(until - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
    expect((await silence({ silenced: false })).body).toMatchObject({
      staleAlertsSilenced: false,
      staleAlertsSilencedUntil: null,
    });
    for (const untilDays of [0, 366, 1.5, '7']) expect((await silence({ untilDays })).status).toBe(400);
    const analyst = await app.adminWithRole(acme, 'analyst');
    expect((await analyst.client.put(ofAcme(device.deviceId, '/silence-stale-alerts'), {})).status).toBe(200);
    expect((await analyst.client.put(ofAcme(device.deviceId, '/revoke'))).status).toBe(403);
    device.client.close();
  });

  it('are revoked with their user', async () => {
    const device = await enrolledDevice(app, acme);
    expect((await device.client.get(POLICIES)).status).toBe(200);
    expect((await acme.admin.delete(`/api/v1/admin/users/${device.userId}`)).status).toBe(204);
    await app.settled();
    await app.services.freshness.waitFor(['live-state'], await app.services.head(), 10_000);
    expect((await device.client.get(POLICIES)).status).toBe(401);
    expect((await acme.admin.get(ofAcme(device.deviceId))).body.status).toBe('revoked');
    device.client.close();
  });
});
