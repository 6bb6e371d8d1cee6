import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';

const PATH = '/api/v1/admin/updates/extension-versions';

describe('extension versions', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const enroll = async (extensionVersion: string, browserType = 'chrome') => {
    const { client, deviceId } = await enrolledDevice(app, tenant, { extensionVersion, browserType });
    client.close();
    return deviceId;
  };

  it('are counted by browser, newest first by semantic versioning, for devices in use of this tenant', async () => {
    const stranger = await app.newTenant();
    (await enrolledDevice(app, stranger, { extensionVersion: '99.0.0' })).client.close();
    for (const version of ['2.9.0', '2.10.0', '2.10.0', 'dev build']) await enroll(version);
    await enroll('2.8.0', 'firefox');
    const revoked = await enroll('3.0.0');
    await tenant.admin.put(`/api/v1/admin/devices/${revoked}/revoke`);
    await app.settled();
    const { status, body } = await tenant.admin.get(PATH);
    expect([status, body]).toEqual([
      200,
      {
        versions: [
          { version: '2.10.0', browserType: 'chrome', deviceCount: 2, isLatest: true },
          { version: '2.9.0', browserType: 'chrome', deviceCount: 1, isLatest: false },
          { version: 'dev build', browserType: 'chrome', deviceCount: 1, isLatest: false },
          { version: '2.8.0', browserType: 'firefox', deviceCount: 1, isLatest: true },
        ],
        total: 4,
      },
    ]);
    expect((await stranger.admin.get(PATH)).body.versions).toEqual([
      { version: '99.0.0', browserType: 'chrome', deviceCount: 1, isLatest: true },
    ]);
  });
});
