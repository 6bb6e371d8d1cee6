import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const WHITELIST = '/api/v1/admin/extension-monitoring/whitelist';
const POLICIES = '/api/v1/ext/policies';
const ID = 'cjpalhdlnbpafiamejdnhcphjbkeiagm';

describe('the extension whitelist', () => {
  let app: TestApp;
  let acme: TestTenant;
  let globex: TestTenant;
  let device: EnrolledDevice;
  let foreign: EnrolledDevice;
  const told = async ({ client }: EnrolledDevice) =>
    (await client.get(POLICIES)).body as { policyVersion: string; extensionWhitelist: unknown[] };
  beforeAll(async () => {
    app = await sharedApp();
    [acme, globex] = [await app.newTenant(), await app.newTenant()];
    [device, foreign] = [await enrolledDevice(app, acme), await enrolledDevice(app, globex)];
  });
  afterAll(async () => {
    for (const { client } of [device, foreign]) client.close();
    await app.close();
  });

  it('names one extension: a pattern is refused', async () => {
    for (const extensionId of ['*', 'cjpalhdl*', '????']) {
      expect((await acme.admin.post(WHITELIST, { extensionId })).status).toBe(400);
      expect((await acme.admin.post(`${WHITELIST}/quick-add`, { extensionId })).status).toBe(400);
    }
  });

  it('reaches the browsers of its own tenant, with a new policy version for every change, until the entry is deleted', async () => {
    const before = await told(device);
    expect(before.extensionWhitelist).toEqual([]);

    const created = await acme.admin.post(WHITELIST, {
      extensionId: ID,
      name: 'uBlock Origin',
      publisher: 'Raymond Hill',
      reason: 'everybody needs it',
    });
    expect([created.status, created.body]).toMatchObject([
      201,
      {
        extensionId: ID,
        name: 'uBlock Origin',
        publisher: 'Raymond Hill',
        browserType: null,
        reason: 'everybody needs it',
      },
    ]);
    const allowed = await told(device);
    expect(allowed.extensionWhitelist).toEqual([{ extensionId: ID, browserType: null }]);

    const changed = await acme.admin.put(`${WHITELIST}/${created.body.id}`, { browserType: 'edge' });
    expect([changed.status, changed.body]).toMatchObject([200, { name: 'uBlock Origin', browserType: 'edge' }]);
    const narrowed = await told(device);
    expect(narrowed.extensionWhitelist).toEqual([{ extensionId: ID, browserType: 'edge' }]);

    expect((await acme.admin.delete(`${WHITELIST}/${created.body.id}`)).status).toBe(204);
    const after = await told(device);
    expect(after.extensionWhitelist).toEqual([]);
    expect(new Set([before, allowed, narrowed, after].map(({ policyVersion }) => policyVersion)).size).toBe(4);
    expect((await told(foreign)).extensionWhitelist).toEqual([]);
  });

  it('accepts an extension once per browser family, regardless of case, and again after its deletion', async () => {
    const entry = { extensionId: 'Addon@Example.org', browserType: 'firefox' };
    const first = await acme.admin.post(WHITELIST, entry);
    const again = await acme.admin.post(WHITELIST, { ...entry, extensionId: 'addon@example.org' });
    const elsewhere = await acme.admin.post(WHITELIST, { ...entry, browserType: 'chrome' });
    expect([first.status, again.status, elsewhere.status]).toEqual([201, 409, 201]);
    expect((await acme.admin.put(`${WHITELIST}/${elsewhere.body.id}`, { browserType: 'firefox' })).status).toBe(409);
    expect((await globex.admin.post(WHITELIST, entry)).status).toBe(201);
    await acme.admin.delete(`${WHITELIST}/${first.body.id}`);
    expect((await acme.admin.post(WHITELIST, entry)).status).toBe(201);
  });

  it('rejects entries without an extension or a browser', async () => {
    for (const broken of [
      {},
      { extensionId: ' ' },
      { extensionId: 'x'.repeat(129) },
      { extensionId: 'a\u0000b' },
      { extensionId: 'abc', browserType: 'opera' },
    ]) {
      expect((await acme.admin.post(WHITELIST, broken)).status, JSON.stringify(broken)).toBe(400);
    }
  });
});
