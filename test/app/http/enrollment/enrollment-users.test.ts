import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrollDevice } from '../../../../commands/enrollment/enroll-device.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../../../dsl/enrolled-device.ts';

describe('the user of a browser that enrolls', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  describe('under a license for few users', () => {
    it('does not use up the token of a browser without a free seat', async () => {
      const small = await app.newTenant({ license: { maxUsers: 1 } });
      const device = await enrolledDevice(app, small);
      const token = await enrollmentTokenOf(small);
      const refused = await tryToEnroll(app, small.tenantId, token);
      expect(refused).toMatchObject({ status: 403, body: { error: 'license user limit reached' } });
      expect((await small.admin.delete(`/api/v1/admin/users/${device.userId}`)).status).toBe(204);
      expect((await tryToEnroll(app, small.tenantId, token)).status).toBe(200);
      device.client.close();
    });

    it('renews a known browser that needs no new seat', async () => {
      const small = await app.newTenant({ license: { maxUsers: 1 } });
      const first = await enrolledDevice(app, small, { deviceFingerprint: 'x' });
      const second = await enrolledDevice(app, small, { deviceFingerprint: 'x' }, first.userId);
      expect(second.deviceId).toBe(first.deviceId);
      for (const { client } of [first, second]) client.close();
    });

    it('never has more devices than seats, though browsers race for the last one', async () => {
      const small = await app.newTenant({ license: { maxUsers: 2 } });
      const tokens = await Promise.all(Array.from({ length: 8 }, () => enrollmentTokenOf(small)));
      const statuses = (await Promise.all(tokens.map((token) => tryToEnroll(app, small.tenantId, token)))).map(
        ({ status }) => status,
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(2);
      expect(statuses.filter((status) => status === 403)).toHaveLength(6);
      await app.settled();
      expect((await small.admin.get('/api/v1/admin/devices')).body.total).toBe(2);
      expect((await small.admin.get('/api/v1/admin/users')).body.total).toBe(2);
    });
  });

  it('is a placeholder until an administrator names them', async () => {
    const device = await enrolledDevice(app, acme);
    const { status, body } = await acme.admin.get(`/api/v1/admin/users/${device.userId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: device.userId,
      email: `device-${device.deviceId}@placeholder.invalid`,
      status: 'pending',
      isPlaceholder: true,
    });
    device.client.close();
  });

  it('is also created if the process that enrolled the browser ended right after', async () => {
    const deviceId = randomUUID();
    const described = {
      deviceFingerprint: 'fp-crash',
      browserType: 'edge',
      browserVersion: null,
      osType: null,
      osVersion: null,
      extensionVersion: '2',
      hostname: null,
      agentVersion: null,
    } as const;
    const input = {
      deviceId,
      besideDeviceId: null,
      certificateSerial: null,
      publicPoint: null,
      enrollmentToken: await enrollmentTokenOf(acme),
      device: described,
    };
    const issuer = { tenantId: acme.tenantId, actor: { kind: 'device', id: deviceId } } as const;
    const { result } = orThrow(await app.services.executor.execute(enrollDevice, input, issuer));
    await app.settled();
    expect((await acme.admin.get(`/api/v1/admin/users/${result.userId}`)).body.isPlaceholder).toBe(true);
  });
});
