import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, type Application } from '../../../../src/app/compose/compose.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const POLICIES = '/api/v1/ext/policies';
const CODE = '/api/v1/ext/verification/code';
const HEARTBEAT = '/api/v1/ext/heartbeat';

interface Codes {
  readonly dailyCode: string;
  readonly otp: string;
}

describe('a person who becomes inactive', () => {
  let app: TestApp;
  let other: Application;
  let acme: TestTenant;
  const open: Client[] = [];
  beforeAll(async () => {
    app = await startApp({ trustedProxies: ['127.0.0.1/32'] });
    other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
    acme = await app.newTenant();
  });
  afterAll(async () => {
    for (const client of open) (client as EnrolledDevice['client']).close();
    await other.stop();
    await app.close();
  });

  async function someone(): Promise<EnrolledDevice> {
    const device = await enrolledDevice(app, acme);
    open.push(device.client);
    return device;
  }
  const become = (userId: string, status: 'active' | 'inactive') =>
    acme.admin.put(`/api/v1/admin/users/${userId}`, { status });
  const verify = (method: 'daily-code' | 'otp', userId: string, code: string) =>
    acme.admin.post(`/api/v1/admin/verification/${method}/verify`, { userId, code });
  const statusOf = async ({ client }: EnrolledDevice, path = POLICIES) => (await client.get(path)).status;
  const shown = async ({ deviceId }: EnrolledDevice) =>
    (await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body as Record<string, unknown>;
  const report = () => ({
    events: [
      {
        eventId: randomUUID(),
        kind: 'navigation',
        occurredAt: new Date().toISOString(),
        domain: 'shop.example',
        data: { title: 'Shop', isNewSite: true },
      },
    ],
  });

  it('is no longer verified by any code, and the attempts count', async () => {
    const leaver = await someone();
    const codes = (await leaver.client.get(CODE)).body as Codes;
    expect((await verify('daily-code', leaver.userId, codes.dailyCode)).body.valid).toBe(true);
    await become(leaver.userId, 'inactive');
    for (const [method, code] of [
      ['daily-code', codes.dailyCode],
      ['otp', codes.otp],
    ] as const) {
      expect(await verify(method, leaver.userId, code)).toMatchObject({
        status: 200,
        body: { valid: false, verifiedAt: null },
      });
    }
    for (let n = 0; n < 3; n += 1) await verify('daily-code', leaver.userId, codes.dailyCode);
    expect((await verify('daily-code', leaver.userId, codes.dailyCode)).status).toBe(429);
  });

  it('is refused on every device and every open connection from then on, while colleagues are not', async () => {
    const [leaver, colleague] = [await someone(), await someone()];
    expect([await statusOf(leaver), await statusOf(colleague)]).toEqual([200, 200]);
    await become(leaver.userId, 'inactive');
    expect([await statusOf(leaver), await statusOf(colleague)]).toEqual([401, 200]);
    const requests = [
      leaver.client.get(CODE),
      leaver.client.post(HEARTBEAT, { extensionVersion: '1' }),
      leaver.client.post('/api/v1/ext/events', report()),
      leaver.client.post('/api/v1/ext/unblock', { key: 'x', domain: 'a.example' }),
    ];
    for (const { status } of await Promise.all(requests)) expect(status).toBe(401);
    expect(await shown(leaver)).toMatchObject({ status: 'active', suspended: true });
  });

  it('is refused on every node', async () => {
    const leaver = await someone();
    const headers = { 'x-client-cert': encodeURIComponent(leaver.certificatePem) };
    const at = (url: string) =>
      fetch(url + POLICIES, { headers }).then(async (answer) => (await answer.arrayBuffer(), answer.status));
    expect([await at(app.url), await at(other.addresses.http)]).toEqual([200, 200]);
    await become(leaver.userId, 'inactive');
    expect(await at(app.url)).toBe(401);
    await expect.poll(() => at(other.addresses.http), { timeout: 2_000, interval: 5 }).toBe(401);
    await become(leaver.userId, 'active');
    await expect.poll(() => at(other.addresses.http), { timeout: 2_000, interval: 5 }).toBe(200);
  });

  it.each([
    ['deleted', (userId: string) => acme.admin.delete(`/api/v1/admin/users/${userId}`)],
    [
      'deleted with others',
      (userId: string) => acme.admin.delete('/api/v1/admin/users/bulk', { body: { userIds: [userId] } }),
    ],
    ['erased', (userId: string) => acme.admin.delete(`/api/v1/admin/users/${userId}?erase=true`)],
  ])('is refused as soon as they are %s', async (_how, remove) => {
    const leaver = await someone();
    expect(await statusOf(leaver)).toBe(200);
    expect((await remove(leaver.userId)).status).toBeLessThan(300);
    expect(await statusOf(leaver)).toBe(401);
  });

  it('has their devices back after a reactivation, but not earlier tokens', async () => {
    const person = await someone();
    const before = (await person.client.get(CODE)).body as Codes;
    const keyFor = async () =>
      (await acme.admin.post('/api/v1/admin/unblock-keys', { domain: 'shop.example', userId: person.userId })).body
        .key as string;
    const redeem = async (key: string) =>
      (await person.client.post('/api/v1/ext/unblock', { key, domain: 'shop.example' })).status;
    const key = await keyFor();
    await become(person.userId, 'inactive');
    expect(
      await acme.admin.post('/api/v1/admin/unblock-keys', { domain: 'shop.example', userId: person.userId }),
    ).toMatchObject({ status: 400, body: { error: expect.stringContaining('userId') as string } });
    await become(person.userId, 'active');
    expect(await statusOf(person)).toBe(200);
    expect(await shown(person)).toMatchObject({ suspended: false });
    expect((await verify('daily-code', person.userId, before.dailyCode)).body.valid).toBe(false);
    const { dailyCode } = (await person.client.get(CODE)).body as Codes;
    expect((await verify('daily-code', person.userId, dailyCode)).body.valid).toBe(true);
    expect(await redeem(key)).toBe(400);
    expect(await redeem(await keyFor())).toBe(200);
  });

  it('keeps a device revoked that was revoked meanwhile', async () => {
    const person = await someone();
    await become(person.userId, 'inactive');
    await acme.admin.put(`/api/v1/admin/devices/${person.deviceId}/revoke`);
    await become(person.userId, 'active');
    expect([await statusOf(person), (await shown(person))['status']]).toEqual([401, 'revoked']);
  });

  it('has devices that still receive a wipe, and nothing else', async () => {
    const leaver = await someone();
    await become(leaver.userId, 'inactive');
    expect((await leaver.client.post(HEARTBEAT, { extensionVersion: '2.0.0' })).status).toBe(401);
    await acme.admin.put(`/api/v1/admin/devices/${leaver.deviceId}/wipe`);
    const { status, body } = await leaver.client.post(HEARTBEAT, { extensionVersion: '2.0.0' });
    expect([status, body.commands]).toMatchObject([200, [{ type: 'wipe' }]]);
    expect([
      await statusOf(leaver),
      await statusOf(leaver, CODE),
      (await leaver.client.post('/api/v1/ext/events', report())).status,
    ]).toEqual([401, 401, 401]);
    expect(await shown(leaver)).toMatchObject({ status: 'wipe_pending', wipeDeliveredAt: expect.any(String) });
  });
});
