import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArrivalBudgets } from '../../../../src/platform/arrivals/arrival-budgets.ts';
import { OBSERVATION_BUDGET } from '../../../../src/contexts/telemetry/observation-allowance.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const EVENTS = '/api/v1/ext/events';
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const visit = (days = 0) => ({
  eventId: randomUUID(),
  kind: 'navigation',
  occurredAt: daysAgo(days),
  domain: 'wiki.example',
  data: {},
});
const visits = (many: number, days = 0) => Array.from({ length: many }, () => visit(days));

describe("the arrival budget of a device's telemetry", () => {
  let app: TestApp;
  let acme: TestTenant;
  let budgets: ArrivalBudgets;
  const devices: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    budgets = new ArrivalBudgets(app.services.database.service);
  });
  afterAll(async () => {
    for (const { client } of devices) client.close();
    await app.close();
  });

  const observations = (deviceId: string, amount: number) => [
    { name: `observations/${deviceId}`, size: OBSERVATION_BUDGET, amount },
  ];
  /** A device with this much left. */
  const deviceWith = async (left: number) => {
    const device = await enrolledDevice(app, acme);
    devices.push(device);
    expect(await budgets.take(acme.tenantId, observations(device.deviceId, OBSERVATION_BUDGET.capacity - left))).toBe(
      0,
    );
    return device;
  };
  const pass = (deviceId: string, ms: number) =>
    app.services.database.owner.query(
      `update arrival_budgets set counted_at = counted_at - $2 * interval '1 ms' where name = $1`,
      [`observations/${deviceId}`, ms],
    );

  it('counts items whatever days they claim, and refuses whole batches so that they can be sent again', async () => {
    const { client, deviceId } = await deviceWith(40);
    for (const days of [0, 30, 60, 80])
      expect((await client.post(EVENTS, { events: visits(10, days) })).body).toMatchObject({ accepted: 10 });
    const batch = { events: visits(2, 70) };
    const refused = await client.post(EVENTS, batch);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    await pass(deviceId, 60_000);
    expect((await client.post(EVENTS, batch)).body).toEqual({ accepted: 2, duplicates: 0, rejected: [] });
  });

  it('is separate for each device', async () => {
    const [spent, other] = [await deviceWith(0), await deviceWith(5)];
    expect((await spent.client.post(EVENTS, { events: visits(1) })).status).toBe(429);
    expect((await other.client.post(EVENTS, { events: visits(5) })).status).toBe(202);
  });

  it('is not charged for items that were reported before', async () => {
    const { client } = await deviceWith(10);
    const batch = { events: visits(5) };
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push((await client.post(EVENTS, batch)).body.duplicates);
    expect(answers).toEqual([0, 5, 5, 5]);
    expect((await client.post(EVENTS, { events: visits(5) })).status).toBe(202);
    expect((await client.post(EVENTS, { events: visits(1) })).status).toBe(429);
  });

  it('charges one for a batch without valid items, so that no number of them is free', async () => {
    const { client } = await deviceWith(2);
    const statuses = [];
    for (let n = 0; n < 4; n += 1)
      statuses.push((await client.post(EVENTS, { deviceSequence: n, events: [{}] })).status);
    expect(statuses).toEqual([202, 202, 429, 429]);
  });

  it('admits fourteen days of a browser that was offline, in one batch or in many', async () => {
    const { client } = await deviceWith(OBSERVATION_BUDGET.capacity);
    const events = Array.from({ length: 15 }, (_, days) => visits(33, days)).flat();
    expect((await client.post(EVENTS, { events })).body).toEqual({
      accepted: events.length,
      duplicates: 0,
      rejected: [],
    });
    expect(OBSERVATION_BUDGET).toEqual({ capacity: 14 * OBSERVATION_BUDGET.perDay, perDay: 20_000 });
  });

  describe('for technologies', () => {
    const rows = async (tenantId: string) =>
      (
        await app.services.database.owner.query<{ n: number }>(
          'select count(*)::int as n from endpoint_technologies where tenant_id = $1',
          [tenantId],
        )
      ).rows[0]!.n;
    const names = (from: number, many: number) =>
      Array.from({ length: many }, (_, n) => ({ name: `technology ${from + n}` }));
    const visitTo = (domain: string, technologies: object[]) => ({ ...visit(), domain, data: { technologies } });
    const tenantWith = async (devices_: number) => {
      const tenant = await app.newTenant();
      const found = await Promise.all(Array.from({ length: devices_ }, () => enrolledDevice(app, tenant)));
      devices.push(...found);
      return { tenant, found };
    };

    it('is 40 per host, whatever one browser reports', async () => {
      const {
        tenant,
        found: [device],
      } = await tenantWith(1);
      for (let n = 0; n < 5; n += 1) {
        const events = Array.from({ length: 20 }, (_, at) => visitTo('one.example', names(n * 2_000 + at * 100, 100)));
        expect((await device!.client.post(EVENTS, { events })).body).toMatchObject({ accepted: 20, rejected: [] });
      }
      await app.settled();
      expect(await rows(tenant.tenantId)).toBe(40);
    });

    it('limits invented hosts by the budget of the device', async () => {
      const {
        tenant,
        found: [device],
      } = await tenantWith(1);
      for (let n = 0; n < 10; n += 1) {
        const events = Array.from({ length: 50 }, (_, at) => visitTo(`h${n}-${at}.example`, names(0, 40)));
        expect((await device!.client.post(EVENTS, { events })).body).toMatchObject({ accepted: 50, rejected: [] });
      }
      await app.settled();
      expect(await rows(tenant.tenantId)).toBe(3 * 2_000);
    });
  });

  it('is exact for concurrent requests, and never takes from one budget what another lacks', async () => {
    const size = { capacity: 1_000, perDay: 10 };
    const [mine, all] = [
      { name: 'mine', size, amount: 100 },
      { name: 'all', size: { capacity: 500, perDay: 10 }, amount: 100 },
    ];
    const waits = await Promise.all(Array.from({ length: 20 }, () => budgets.take(acme.tenantId, [all, mine])));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
    expect(Math.max(...waits)).toBeGreaterThan(9 * DAY_MS);
    expect(await budgets.take(acme.tenantId, [{ ...mine, amount: 500 }])).toBe(0);
    expect(await budgets.take(acme.tenantId, [{ ...mine, amount: -200 }])).toBe(0);
    expect(await budgets.take(acme.tenantId, [{ ...mine, amount: 200 }])).toBe(0);
    expect(await budgets.take(acme.tenantId, [{ ...mine, amount: 1 }])).toBeGreaterThan(0);
  });

  it('raises 140 alerts per type and one that counts the others, and is separate for each tenant', async () => {
    const [hostile, other] = [await app.newTenant(), await app.newTenant()];
    const [attacker, kim] = [await enrolledDevice(app, hostile), await enrolledDevice(app, other)];
    devices.push(attacker, kim);
    const breached = (domain: string) => ({
      ...visit(),
      kind: 'credential_attempt',
      domain,
      data: { username: 'jo', passwordHash: 'ab'.repeat(32), isBreached: true },
    });
    for (let n = 0; n < 4; n += 1) {
      const events = Array.from({ length: 250 }, (_, at) => breached(`h${n}-${at}.example`));
      expect((await attacker.client.post(EVENTS, { events })).body).toMatchObject({ accepted: 250 });
    }
    await kim.client.post(EVENTS, { events: [breached('shop.example')] });
    await app.settled();
    const { body } = await hostile.admin.get('/api/v1/admin/alerts?alert_type=breached_password&page_size=100');
    expect(body.total).toBe(141);
    const summary = (
      await hostile.admin.get('/api/v1/admin/alerts?alert_type=breached_password&page_size=100&page=2')
    ).body.alerts
      .concat(body.alerts)
      .find((one: { metadata: { kind: string } }) => one.metadata.kind === 'alert_budget');
    expect(summary).toMatchObject({ deviceId: attacker.deviceId, occurrenceCount: 1_000 - 140, domain: null });
    expect((await other.admin.get('/api/v1/admin/alerts')).body.alerts).toMatchObject([
      { domain: 'shop.example', deviceId: kim.deviceId },
    ]);
  });

  it('keeps the extension watch of every tenant working after the largest possible reports of one browser', async () => {
    const [hostile, other] = [await app.newTenant(), await app.newTenant()];
    const [attacker, kim] = [await enrolledDevice(app, hostile), await enrolledDevice(app, other)];
    devices.push(attacker, kim);
    for (const { admin } of [hostile, other])
      expect(
        (await admin.put('/api/v1/admin/extension-monitoring/settings', { alertOnUnwhitelisted: true })).status,
      ).toBe(200);
    const at = (seconds: number) => new Date(Date.now() - 60_000 + seconds * 1_000).toISOString();
    const extensionEvent = (seconds: number, extensionId: string) => ({
      eventId: randomUUID(),
      kind: 'extension_event',
      occurredAt: at(seconds),
      data: { extensionId, change: 'installed' },
    });
    for (let n = 0; n < 9; n += 1) {
      const events = Array.from({ length: 200 }, (_, one) => extensionEvent(n, `${n}-${one}`.padEnd(128, '\u0001')));
      expect((await attacker.client.post(EVENTS, { events })).body).toMatchObject({ accepted: 200 });
    }
    const empty = { eventId: randomUUID(), kind: 'extension_inventory', occurredAt: at(30), data: { extensions: [] } };
    expect((await attacker.client.post(EVENTS, { events: [empty] })).body).toMatchObject({ accepted: 1 });
    await kim.client.post(EVENTS, { events: [extensionEvent(0, 'unknown-extension')] });
    await app.settled();
    expect((await other.admin.get('/api/v1/admin/alerts')).body.alerts).toMatchObject([
      { alertType: 'unwhitelisted_extension', deviceId: kim.deviceId },
    ]);
  });
});
