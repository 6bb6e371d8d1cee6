import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  browser,
  enrolledDevice,
  enrollmentTokenOf,
  tryToEnroll,
  type EnrolledDevice,
} from '../../../dsl/enrolled-device.ts';

const path = '/api/v1/admin/devices';
/** Open to every authenticated device; the guard alone decides. */
const POLICIES = '/api/v1/ext/policies';

describe('devices that enroll again', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const ofAcme = (id: string, rest = '') => `${path}/${id}${rest}`;

  const CODE = '/api/v1/ext/verification/code';
  const named = async (userId: string) =>
    acme.admin.put(`/api/v1/admin/users/${userId}`, { email: `${userId}@acme.example`, displayName: 'The Treasurer' });
  const heard = async ({ client }: EnrolledDevice) => (await client.get(POLICIES)).status === 200;
  const shown = async ({ deviceId }: EnrolledDevice) =>
    (await acme.admin.get(ofAcme(deviceId))).body as Record<string, unknown>;

  it('become a new device of a new person with only a token and a fingerprint', async () => {
    const victim = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-known' });
    await named(victim.userId);
    const { dailyCode } = (await victim.client.get(CODE)).body as { dailyCode: string };
    const thief = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-known' });
    expect([thief.deviceId === victim.deviceId, thief.userId === victim.userId]).toEqual([false, false]);
    expect([await heard(victim), await heard(thief)]).toEqual([true, true]);
    expect((await thief.client.get(CODE)).body.dailyCode).not.toBe(dailyCode);
    expect((await victim.client.get(CODE)).body.dailyCode).toBe(dailyCode);
    expect(await shown(thief)).toMatchObject({
      besideDeviceId: victim.deviceId,
      userEmail: `device-${thief.deviceId}@placeholder.invalid`,
    });
    expect(await shown(victim)).toMatchObject({ besideDeviceId: null, status: 'active', userId: victim.userId });
    await app.settled();
    const { alerts } = (await acme.admin.get('/api/v1/admin/alerts?alert_type=policy_violation')).body as {
      alerts: { deviceId: string }[];
    };
    expect(alerts.filter(({ deviceId }) => deviceId === thief.deviceId)).toMatchObject([
      { status: 'open', metadata: { kind: 'device_fingerprint_reuse', besideDeviceId: victim.deviceId } },
    ]);
    for (const { client } of [victim, thief]) client.close();
  });

  it('keep id and person with a token that is bound to the person, and their old certificate ends', async () => {
    const first = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-again', extensionVersion: '2.0.0' });
    expect(await heard(first)).toBe(true);
    const second = await enrolledDevice(
      app,
      acme,
      { deviceFingerprint: 'fp-again', extensionVersion: '2.1.0' },
      first.userId,
    );
    expect({ deviceId: second.deviceId, userId: second.userId }).toEqual({
      deviceId: first.deviceId,
      userId: first.userId,
    });
    expect([await heard(first), await heard(second)]).toEqual([false, true]);
    expect((await shown(first))['extensionVersion']).toBe('2.1.0');
    for (const { client } of [first, second]) client.close();
  });

  it('keep id and person if the connection presents their certificate', async () => {
    const first = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-shown' });
    const stranger = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-stranger' });
    const enrollOver = async ({ client }: EnrolledDevice) =>
      (
        await client.post(
          '/api/v1/enroll/certificate',
          browser({ deviceFingerprint: 'fp-shown', enrollmentToken: await enrollmentTokenOf(acme) }),
          { headers: { 'x-tenant-id': acme.tenantId } },
        )
      ).body;
    // Another device's certificate proves nothing about this one.
    expect((await enrollOver(stranger)).deviceId).not.toBe(first.deviceId);
    expect(await heard(first)).toBe(true);
    expect(await enrollOver(first)).toMatchObject({ deviceId: first.deviceId, userId: first.userId });
    expect(await heard(first)).toBe(false);
    for (const { client } of [first, stranger]) client.close();
  });

  it('do not move to the person of another token, and are found again beside the device that has the fingerprint', async () => {
    const first = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-two' });
    const other = await enrolledDevice(app, acme);
    const beside = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-two' }, other.userId);
    expect([beside.deviceId === first.deviceId, beside.userId]).toEqual([false, other.userId]);
    const again = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-two' }, other.userId);
    expect(again.deviceId).toBe(beside.deviceId);
    expect([await heard(first), await heard(beside), await heard(again)]).toEqual([true, false, true]);
    await acme.admin.delete(ofAcme(again.deviceId));
    const anew = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-two' }, other.userId);
    expect([first.deviceId, beside.deviceId].includes(anew.deviceId)).toBe(false);
    for (const { client } of [first, other, beside, again, anew]) client.close();
  });

  it('stay revoked until an administrator allows them to enroll, and use no token before', async () => {
    const before = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-back' });
    await named(before.userId);
    expect((await acme.admin.put(ofAcme(before.deviceId, '/allow-reenrollment'))).status).toBe(409);
    await acme.admin.put(ofAcme(before.deviceId, '/revoke'));
    const token = await enrollmentTokenOf(acme, before.userId);
    const attempt = () => tryToEnroll(app, acme.tenantId, token, { deviceFingerprint: 'fp-back' });
    expect(await attempt()).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('revoked') as string },
    });
    expect(await shown(before)).toMatchObject({ status: 'revoked', reenrollmentAllowed: false });
    const allowed = await acme.admin.put(ofAcme(before.deviceId, '/allow-reenrollment'));
    expect([allowed.status, allowed.body]).toMatchObject([200, { status: 'revoked', reenrollmentAllowed: true }]);
    expect(await attempt()).toMatchObject({ status: 200, body: { deviceId: before.deviceId, userId: before.userId } });
    expect(await shown(before)).toMatchObject({ status: 'active', revokedAt: null, reenrollmentAllowed: false });
    expect(await heard(before)).toBe(false);
    const audited = (await acme.admin.get('/api/v1/admin/audit-log?action=device.reenrollment_allowed')).body
      .auditLogs as { resourceId: string }[];
    expect(audited.map(({ resourceId }) => resourceId)).toEqual([before.deviceId]);
    before.client.close();
  });

  it('lose their person if they were revoked and return with a token that is bound to nobody', async () => {
    const before = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-nobody' });
    await named(before.userId);
    for (const step of ['/revoke', '/allow-reenrollment']) await acme.admin.put(ofAcme(before.deviceId, step));
    const after = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-nobody' });
    expect([after.deviceId, after.userId === before.userId]).toEqual([before.deviceId, false]);
    expect(await shown(after)).toMatchObject({
      userId: after.userId,
      userEmail: `device-${after.deviceId}@placeholder.invalid`,
    });
    for (const { client } of [before, after]) client.close();
  });

  it('keep a pending wipe, and are told about it', async () => {
    const before = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-wipe' });
    await acme.admin.put(ofAcme(before.deviceId, '/wipe'));
    const beat = async ({ client }: EnrolledDevice) =>
      (await client.post('/api/v1/ext/heartbeat', { extensionVersion: '2.0.0' })).body.commands as object[];
    expect(await beat(before)).toMatchObject([{ type: 'wipe' }]);
    const stranger = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-wipe' });
    expect(await beat(stranger)).toEqual([]);
    expect(await shown(before)).toMatchObject({ status: 'wipe_pending', wipeRequestedAt: expect.any(String) });
    const after = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-wipe' }, before.userId);
    expect(after.deviceId).toBe(before.deviceId);
    expect(await shown(after)).toMatchObject({
      status: 'wipe_pending',
      wipeRequestedAt: expect.any(String),
      wipeDeliveredAt: null,
    });
    expect(await beat(after)).toMatchObject([{ type: 'wipe' }]);
    for (const { client } of [before, stranger, after]) client.close();
  });

  it('share nothing across two tenants with the same fingerprint', async () => {
    const other = await app.newTenant();
    const mine = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-shared' });
    const theirs = await enrolledDevice(app, other, { deviceFingerprint: 'fp-shared' });
    expect(theirs.deviceId).not.toBe(mine.deviceId);
    expect((await mine.client.get(POLICIES)).status).toBe(200);
    mine.client.close();
    theirs.client.close();
  });

  it('are gone once deleted, and enroll again as another device', async () => {
    const device = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-gone' });
    expect((await device.client.get(POLICIES)).status).toBe(200);
    expect(await acme.admin.delete(ofAcme(device.deviceId))).toMatchObject({ status: 204, text: '' });
    expect((await device.client.get(POLICIES)).status).toBe(401);
    expect((await acme.admin.get(ofAcme(device.deviceId))).status).toBe(404);
    expect((await acme.admin.delete(ofAcme(device.deviceId))).status).toBe(404);
    const again = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-gone' });
    expect(again.deviceId).not.toBe(device.deviceId);
    device.client.close();
    again.client.close();
  });

  it('are deleted or enroll again, whichever comes first, and never half of each', async () => {
    const device = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-torn' });
    const token = await enrollmentTokenOf(acme, device.userId);
    const [deletion, enrollment] = await Promise.all([
      acme.admin.delete(ofAcme(device.deviceId)),
      tryToEnroll(app, acme.tenantId, token, { deviceFingerprint: 'fp-torn' }),
    ]);
    expect([deletion.status, enrollment.status]).toEqual([204, 200]);
    const gone = await acme.admin.get(ofAcme(device.deviceId));
    expect(gone.status).toBe(404);
    const client = app.device(enrollment.body.clientCertificate, enrollment.body.clientPrivateKey);
    expect((await client.get(POLICIES)).status).toBe(enrollment.body.deviceId === device.deviceId ? 401 : 200);
    expect((await device.client.get(POLICIES)).status).toBe(401);
    client.close();
    device.client.close();
  });
});
