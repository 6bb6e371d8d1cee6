import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const DEVICES = '/api/v1/admin/mobile/devices';
const PREFERENCES = '/api/v1/admin/mobile/preferences';

let app: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  app = await sharedApp();
  tenant = await app.newTenant();
});
afterAll(() => app.close());

const phone = (pushToken = `token-${randomUUID()}`) => ({
  platform: 'android',
  pushToken,
  deviceName: "Ann's phone",
  appVersion: '3.1.0',
});

describe('mobile devices (F206, OP-190)', () => {
  it('are registered, listed without their token, updated by the same token, and unregistered', async () => {
    const { admin } = await app.newTenant();
    const body = phone();
    const made = await admin.post(DEVICES, body);
    const shown = {
      id: expect.any(String),
      platform: 'android',
      deviceName: "Ann's phone",
      appVersion: '3.1.0',
      createdAt: expect.any(String),
      lastUsedAt: expect.any(String),
    };
    expect([made.status, made.body]).toEqual([201, shown]);
    expect((await admin.get(DEVICES)).body).toEqual({ devices: [made.body], total: 1 });

    const again = await admin.post(DEVICES, { ...body, deviceName: 'Old phone', appVersion: null });
    expect([again.status, again.body]).toEqual([
      200,
      { ...made.body, deviceName: 'Old phone', appVersion: null, lastUsedAt: expect.any(String) },
    ]);
    expect(Date.parse(again.body.lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(made.body.lastUsedAt));
    expect((await admin.get(DEVICES)).body.total).toBe(1);

    expect((await admin.delete(`${DEVICES}/${made.body.id}`)).status).toBe(204);
    expect((await admin.delete(`${DEVICES}/${made.body.id}`)).status).toBe(404);
    expect((await admin.get(DEVICES)).body).toEqual({ devices: [], total: 0 });
  });

  it('keep the push token out of the log and the audit log', async () => {
    const own = await app.newTenant();
    const body = phone();
    await own.admin.post(DEVICES, body);
    await own.admin.post(DEVICES, { ...body, deviceName: null });
    const { auditLogs } = (await own.admin.get('/api/v1/admin/audit-log?page_size=100')).body;
    const logged = JSON.stringify(auditLogs);
    expect(logged).toContain('mobile_device.registered');
    expect(logged).toContain('mobile_device.refreshed');
    expect(logged).not.toContain(body.pushToken);
    const { rows } = await app.services.database.owner.query(
      'select data::text as text from events where tenant_id = $1',
      [own.tenantId],
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(body.pushToken);
  });

  it("are another administrator's business: 404, and a list of one's own", async () => {
    const colleague = (await app.adminWithRole(tenant, 'analyst')).client;
    const { id } = (await tenant.admin.post(DEVICES, phone())).body;
    expect((await colleague.delete(`${DEVICES}/${id}`)).status).toBe(404);
    expect((await colleague.get(DEVICES)).body).toEqual({ devices: [], total: 0 });
    const other = await app.newTenant();
    expect((await other.admin.delete(`${DEVICES}/${id}`)).status).toBe(404);
    expect((await tenant.admin.get(DEVICES)).body.total).toBe(1);
  });

  it.each([
    ['platform', { platform: 'windows' }],
    ['pushToken', { pushToken: 'short' }],
    ['pushToken', { pushToken: 'x'.repeat(4_097) }],
    ['pushToken', { pushToken: 'with\r\nheader: x' }],
    ['pushToken', { pushToken: undefined }],
    ['deviceName', { deviceName: 'a\nb' }],
    ['appVersion', { appVersion: 'v'.repeat(51) }],
  ])('refuse a wrong %s', async (field, over) => {
    const { status, body } = await tenant.admin.post(DEVICES, { ...phone(), ...over });
    expect([status, body.fields?.[0]?.field]).toEqual([400, field]);
  });

  it('end with the sessions of the account, when an administrator resets its password', async () => {
    const own = await app.newTenant();
    const analyst = await app.adminWithRole(own, 'analyst');
    await analyst.client.post(DEVICES, phone());
    expect((await own.admin.post(`/api/v1/admin/admin-users/${analyst.adminId}/reset-password`)).status).toBe(200);
    await app.settled();
    const { rows } = await app.services.database.owner.query<{ data: object }>(
      "select data from events where tenant_id = $1 and type = 'MobileDeviceRemoved'",
      [own.tenantId],
    );
    expect(rows).toMatchObject([{ data: { adminId: analyst.adminId, reason: 'sessions_ended' } }]);
  });

  it('end with the account', async () => {
    const own = await app.newTenant();
    const { client, adminId } = await app.adminWithRole(own, 'viewer');
    expect((await client.post(DEVICES, phone())).status).toBe(403);
    const analyst = await app.adminWithRole(own, 'analyst');
    expect((await analyst.client.post(DEVICES, phone())).status).toBe(201);
    for (const id of [adminId, analyst.adminId])
      expect((await own.admin.delete(`/api/v1/admin/admin-users/${id}`)).status).toBe(204);
    await app.settled();
    const { auditLogs } = (await own.admin.get('/api/v1/admin/audit-log?page_size=100')).body;
    const removed = auditLogs.filter(({ action }: { action: string }) => action === 'mobile_device.removed');
    expect(removed).toMatchObject([{ details: { adminId: analyst.adminId, reason: 'account_deleted' } }]);
  });
});

describe('mobile preferences (OP-191)', () => {
  it('have defaults, and change in part', async () => {
    const { admin } = await app.newTenant();
    const before = {
      pushEnabled: true,
      minSeverity: 'high',
      alertTypes: [],
      onlyWhenOnCall: true,
      quietHours: { enabled: false, start: '22:00', end: '07:00', timezone: 'UTC' },
    };
    expect((await admin.get(PREFERENCES)).body).toEqual(before);
    const changed = await admin.put(PREFERENCES, {
      alertTypes: ['phishing_detected', 'phishing_detected'],
      quietHours: { enabled: true, timezone: 'Asia/Kathmandu' },
    });
    const after = {
      ...before,
      alertTypes: ['phishing_detected'],
      quietHours: { enabled: true, start: '22:00', end: '07:00', timezone: 'Asia/Kathmandu' },
    };
    expect([changed.status, changed.body]).toEqual([200, after]);
    expect((await admin.put(PREFERENCES, {})).body).toEqual(after);
    expect((await admin.get(PREFERENCES)).body).toEqual(after);
  });

  it.each([
    ['minSeverity', { minSeverity: 'severe' }],
    ['alertTypes.0', { alertTypes: ['rumour'] }],
    ['quietHours.start', { quietHours: { start: '25:00' } }],
    ['quietHours.timezone', { quietHours: { timezone: 'Mars/Base' } }],
    ['pushEnabled', { pushEnabled: 'yes' }],
  ])('refuse a wrong %s, and change nothing', async (field, body) => {
    const before = (await tenant.admin.get(PREFERENCES)).body;
    const refused = await tenant.admin.put(PREFERENCES, { onlyWhenOnCall: false, ...body });
    expect([refused.status, refused.body.fields?.[0]?.field]).toEqual([400, field]);
    expect((await tenant.admin.get(PREFERENCES)).body).toEqual(before);
  });
});

describe('without mobile access (OP-192)', () => {
  const everyRoute = async (client: Client) => [
    await client.get(DEVICES),
    await client.post(DEVICES, phone()),
    await client.delete(`${DEVICES}/${randomUUID()}`),
    await client.get(PREFERENCES),
    await client.put(PREFERENCES, {}),
  ];
  const outcomes = async (client: Client) =>
    (await everyRoute(client)).map(({ status, body }) => [status, body?.code ?? null]);
  const allowed = [
    [200, null],
    [201, null],
    [404, 'not_found'],
    [200, null],
    [200, null],
  ];
  const denied = Array.from({ length: 5 }, () => [403, 'mobile_access_denied']);

  it('every route is a 403: by the flag of the account, by the role, and for a role that the map does not have', async () => {
    const own = await app.newTenant();
    const { client, adminId } = await app.adminWithRole(own, 'analyst');
    const flag = `/api/v1/admin/admin-users/${adminId}/mobile-access`;
    const map = '/api/v1/admin/settings/mobile-access-by-role';
    expect(await outcomes(client)).toEqual(allowed);
    await own.admin.put(flag, { mobileAccess: false });
    expect(await outcomes(client)).toEqual(denied);
    await own.admin.put(flag, { mobileAccess: true });
    await own.admin.put(map, { mobileAccess: { analyst: false } });
    expect(await outcomes(client)).toEqual(denied);
    await own.admin.put(map, { mobileAccess: { analyst: true } });
    expect((await client.get(DEVICES)).status).toBe(200);
    expect(await outcomes((await app.adminWithRole(own, 'viewer')).client)).toEqual(denied);
  });
});
