import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const EVENTS = '/api/v1/ext/events';
const HEARTBEAT = '/api/v1/ext/heartbeat';
const POLICIES = '/api/v1/ext/policies';
const alive = { extensionVersion: '2.0.0' };

const completed = (wipeId: unknown, over: object = {}) => ({
  eventId: randomUUID(),
  kind: 'wipe_completed',
  occurredAt: new Date().toISOString(),
  data: { wipeId },
  ...over,
});
const visit = () => ({ eventId: randomUUID(), kind: 'navigation', occurredAt: new Date().toISOString() });

describe('the wipe of a device', () => {
  let app: TestApp;
  let acme: TestTenant;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  async function newDevice(): Promise<EnrolledDevice> {
    const device = await enrolledDevice(app, acme);
    open.push(device);
    return device;
  }
  const suspend = ({ userId }: EnrolledDevice) =>
    acme.admin.put(`/api/v1/admin/users/${userId}`, { status: 'inactive' });
  const orderWipe = ({ deviceId }: EnrolledDevice) => acme.admin.put(`/api/v1/admin/devices/${deviceId}/wipe`);
  const statusOf = async ({ deviceId }: EnrolledDevice) => {
    await app.settled();
    return (await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.status as string;
  };
  const commandOf = async ({ client }: EnrolledDevice) =>
    (await client.post(HEARTBEAT, alive)).body.commands[0].id as string;

  it.each([
    ['before', [suspend, orderWipe]],
    ['after', [orderWipe, suspend]],
  ])('ends when the user was suspended %s it was ordered, and nothing else is accepted', async (_when, steps) => {
    const device = await newDevice();
    for (const step of steps) await step(device);
    const wipeId = await commandOf(device);
    for (const events of [[visit()], [completed(wipeId), visit()]]) {
      const refused = await device.client.post(EVENTS, { events });
      expect([refused.status, refused.body.code]).toEqual([401, 'device_suspended']);
    }
    expect((await device.client.get(POLICIES)).status).toBe(401);
    const event = completed(wipeId, { domain: 'shop.example', url: 'https://shop.example/' });
    const ended = await device.client.post(EVENTS, { events: [event] });
    expect([ended.status, ended.body]).toEqual([202, { accepted: 1, duplicates: 0, rejected: [] }]);
    expect(await statusOf(device)).toBe('wiped');
  });

  it('is confirmed again after a lost response, and only it', async () => {
    const device = await newDevice();
    await orderWipe(device);
    const event = completed(await commandOf(device));
    expect((await device.client.post(EVENTS, { events: [event] })).status).toBe(202);
    expect(await statusOf(device)).toBe('wiped');
    const again = await device.client.post(EVENTS, { events: [event] });
    expect([again.status, again.body]).toEqual([202, { accepted: 0, duplicates: 1, rejected: [] }]);
    const anew = await device.client.post(EVENTS, { events: [completed(event.data.wipeId)] });
    expect([anew.status, anew.body]).toEqual([202, { accepted: 0, duplicates: 1, rejected: [] }]);
    for (const events of [[visit()], [completed(randomUUID())]]) {
      const refused = await device.client.post(EVENTS, { events });
      expect([refused.status, refused.body.code]).toEqual([401, 'certificate_revoked']);
    }
    for (const refused of [await device.client.get(POLICIES), await device.client.post(HEARTBEAT, alive)])
      expect([refused.status, refused.body.code]).toEqual([401, 'certificate_revoked']);
  });

  it('is not ended by another id, or by none', async () => {
    const device = await newDevice();
    const early = await device.client.post(EVENTS, { events: [completed(randomUUID())] });
    expect(early.body).toMatchObject({
      accepted: 0,
      rejected: [{ index: 0, code: 'unknown_wipe', field: 'data.wipeId' }],
    });
    await orderWipe(device);
    const wipeId = await commandOf(device);
    const { status, body } = await device.client.post(EVENTS, {
      events: [completed(randomUUID()), completed(undefined), completed(null), visit()],
    });
    expect([status, body.accepted, body.rejected.map(({ field }: { field: string }) => field)]).toEqual([
      202,
      1,
      ['data.wipeId', 'data.wipeId', 'data.wipeId'],
    ]);
    expect(await statusOf(device)).toBe('wipe_pending');
    expect((await device.client.post(EVENTS, { events: [completed(wipeId.toUpperCase())] })).body.accepted).toBe(1);
    expect(await statusOf(device)).toBe('wiped');
  });

  it('never ends without the certificate', async () => {
    const [device, other] = [await newDevice(), await newDevice()];
    await orderWipe(device);
    const events = [completed(await commandOf(device))];
    expect((await app.anonymous.post(EVENTS, { events })).status).toBe(401);
    expect((await other.client.post(EVENTS, { events })).body.accepted).toBe(0);
    expect(await statusOf(device)).toBe('wipe_pending');
  });
});

describe('a certificate that is refused', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());
  const refusalOf = async (client: EnrolledDevice['client']) => {
    const { status, body } = await client.get(POLICIES);
    return [status, body.code] as unknown;
  };

  it('tells its holder why', async () => {
    const [revoked, suspended] = [await enrolledDevice(app, acme), await enrolledDevice(app, acme)];
    await acme.admin.put(`/api/v1/admin/devices/${revoked.deviceId}/revoke`);
    await acme.admin.put(`/api/v1/admin/users/${suspended.userId}`, { status: 'inactive' });
    expect(await refusalOf(revoked.client)).toEqual([401, 'certificate_revoked']);
    expect(await refusalOf(suspended.client)).toEqual([401, 'device_suspended']);
    await acme.admin.put(`/api/v1/admin/devices/${suspended.deviceId}/revoke`);
    expect(await refusalOf(suspended.client)).toEqual([401, 'certificate_revoked']);
    for (const { client } of [revoked, suspended]) client.close();
  });

  it('tells a stranger nothing', async () => {
    const { status, body } = await app.anonymous.get(POLICIES);
    expect([status, body.code]).toEqual([401, 'authentication_required']);
  });
});
