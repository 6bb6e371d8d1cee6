import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../dsl/enrolled-device.ts';

const path = '/api/v1/admin/devices';
/** What every device that is heard may ask; the guard alone decides. */
const POLICIES = '/api/v1/ext/policies';

describe('devices that enroll again', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const ofAcme = (id: string, rest = '') => `${path}/${id}${rest}`;

  it('keep their id when they enroll again, and their old certificate ends', async () => {
    const first = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-again', extensionVersion: '2.0.0' });
    expect((await first.client.get(POLICIES)).status).toBe(200);
    const second = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-again', extensionVersion: '2.1.0' });
    expect({ deviceId: second.deviceId, userId: second.userId }).toEqual({ deviceId: first.deviceId, userId: first.userId });
    expect((await first.client.get(POLICIES)).status).toBe(401);
    expect((await second.client.get(POLICIES)).status).toBe(200);
    expect((await acme.admin.get(ofAcme(first.deviceId))).body.extensionVersion).toBe('2.1.0');
    first.client.close();
    second.client.close();
  });

  it('come back with a new token after a revocation, but not with what was revoked', async () => {
    const before = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-back' });
    await acme.admin.put(ofAcme(before.deviceId, '/revoke'));
    const after = await enrolledDevice(app, acme, { deviceFingerprint: 'fp-back' });
    expect(after.deviceId).toBe(before.deviceId);
    expect((await acme.admin.get(ofAcme(after.deviceId))).body).toMatchObject({ status: 'active', revokedAt: null });
    expect((await before.client.get(POLICIES)).status).toBe(401);
    expect((await after.client.get(POLICIES)).status).toBe(200);
    before.client.close();
    after.client.close();
  });

  it('have the same fingerprint in two tenants without anything in common', async () => {
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
    const token = await enrollmentTokenOf(acme);
    const [deletion, enrollment] = await Promise.all([
      acme.admin.delete(ofAcme(device.deviceId)),
      tryToEnroll(app, acme.tenantId, token, { deviceFingerprint: 'fp-torn' }),
    ]);
    expect([deletion.status, enrollment.status]).toEqual([204, 200]);
    const gone = await acme.admin.get(ofAcme(device.deviceId));
    expect(gone.status).toBe(404);
    const client = app.device(enrollment.body.clientCertificate, enrollment.body.clientPrivateKey);
    expect((await client.get(POLICIES)).status).toBe(enrollment.body.deviceId === device.deviceId ? 401 : 200);
    client.close();
    device.client.close();
  });
});
