import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { Portal } from '../../../../src/contexts/alerts/portal.ts';
import { guardedFetch } from '../../../../src/platform/outbound/guarded-fetch.ts';
import { forwardAlertJob } from '../../../../src/contexts/alerts/forward-alert.ts';
import { alertStaleDevices } from '../../../../src/contexts/devices/alert-stale-devices.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice } from '../../../dsl/enrolled-device.ts';
import { startPortal } from '../../../fixtures/portal-peer.ts';

const ALERTS = '/api/v1/admin/alerts';
const API_KEY = 'a-key-of-the-portal';

let app: TestApp;
let portal: Awaited<ReturnType<typeof startPortal>>;
beforeAll(async () => {
  portal = await startPortal(API_KEY);
  app = await startApp({ portal: { url: portal.url, apiKey: API_KEY } });
});
afterAll(async () => {
  await app.close();
  await portal.close();
});

async function raise({ tenantId }: TestTenant, over: object = {}): Promise<string> {
  const alertId = randomUUID();
  const input = {
    alertId,
    alertType: 'password_reuse' as const,
    title: 'Reuse',
    description: '',
    fingerprint: alertId,
    userId: null,
    deviceId: null,
    domain: 'shop.example',
    url: null,
    cause: alertId,
    metadata: {},
    ...over,
  };
  const { position } = orThrow(
    await app.services.executor.execute(raiseAlert, input, { tenantId, actor: system('test') }),
  );
  await app.services.freshness.waitFor(['alerts', 'alert_minutes'], position!, 10_000);
  return alertId;
}
const jobContext = () => ({
  id: randomUUID(),
  attempt: 1,
  isLastAttempt: false,
  tenantId: undefined,
  correlationId: randomUUID(),
  signal: new AbortController().signal,
});

describe('the figures of alerts over HTTP', () => {
  let tenant: TestTenant;
  let ids: string[];
  beforeAll(async () => {
    tenant = await app.newTenant();
    ids = [];
    for (const alertType of ['password_reuse', 'password_reuse', 'phishing_detected', 'weak_password'])
      ids.push(await raise(tenant, { alertType }));
    await raise(await app.newTenant());
    await tenant.admin.put(`${ALERTS}/${ids[0]}/acknowledge`);
    await tenant.admin.put(`${ALERTS}/${ids[0]}/resolve`, { status: 'resolved' });
    await tenant.admin.put(`${ALERTS}/${ids[1]}/resolve`, { status: 'false_positive' });
    await tenant.admin.put(`${ALERTS}/${ids[2]}/acknowledge`);
    await tenant.admin.put(`${ALERTS}/${ids[2]}/reopen`);
    await tenant.admin.put(`${ALERTS}/${ids[3]}/severity`, { severity: 'high' });
  });
  const get = async (path: string) => (await tenant.admin.get(`${ALERTS}/${path}`)).body;

  it.each([
    ['24h', 24, 'hour'],
    ['7d', 7, 'day'],
    ['30d', 30, 'day'],
    ['90d', 90, 'day'],
  ])('show a trend of %s with its empty buckets', async (timeframe, length, interval) => {
    const { trend, ...header } = await get(`trend?timeframe=${timeframe}`);
    const timezone = 'UTC';
    expect(header).toEqual({ timeframe, interval, timezone, from: expect.any(String), to: expect.any(String) });
    expect(trend).toHaveLength(length);
    expect(trend.at(-1).date).toBe(
      new Date().toISOString().slice(0, interval === 'hour' ? 13 : 10) + (interval === 'hour' ? ':00:00.000Z' : ''),
    );
    expect(trend.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(4);
    const split = (await get(`trend/by-severity?timeframe=${timeframe}`)).trend;
    expect(split.at(-1)).toMatchObject({ critical: 1, high: 1, medium: 2, low: 0, total: 4 });
    expect((await get('stats')).bySeverity).toEqual({ critical: 1, high: 1, medium: 2, low: 0 });
  });

  it('measure triage like a recount of the list', async () => {
    const metrics = await get('triage-metrics');
    const { alerts } = (await tenant.admin.get(ALERTS)).body;
    const seconds = (name: string) => {
      const times = alerts
        .filter((one: Record<string, string | null>) => one[name])
        .map((one: Record<string, string>) => (Date.parse(one[name]!) - Date.parse(one['createdAt']!)) / 1000);
      return times.reduce((sum: number, time: number) => sum + time, 0) / times.length;
    };
    expect(metrics).toEqual({
      timeframe: '7d',
      from: expect.any(String),
      to: expect.any(String),
      totalAlerts: 4,
      mttrSeconds: expect.closeTo(seconds('resolvedAt'), 6),
      mttaSeconds: expect.closeTo(seconds('acknowledgedAt'), 6),
      acknowledgmentRate: 0.25,
      resolutionRate: 0.5,
      falsePositiveRate: 0.5,
    });
  });

  it('are null and zero without data', async () => {
    const { admin } = await app.newTenant();
    expect((await admin.get(`${ALERTS}/triage-metrics?timeframe=90d`)).body).toEqual({
      timeframe: '90d',
      from: expect.any(String),
      to: expect.any(String),
      totalAlerts: 0,
      mttrSeconds: null,
      mttaSeconds: null,
      acknowledgmentRate: 0,
      resolutionRate: 0,
      falsePositiveRate: 0,
    });
    expect((await admin.get(`${ALERTS}/aggregated`)).body).toMatchObject({ aggregates: [], total: 0 });
  });

  it.each([
    'trend?timeframe=1d',
    'trend/by-severity?timeframe=x',
    'triage-metrics?timeframe=8d',
    'aggregated?start_date=yesterday',
  ])('reject %s', async (path) => {
    expect((await tenant.admin.get(`${ALERTS}/${path}`)).status).toBe(400);
  });

  it('group related alerts', async () => {
    const { aggregates, total } = await get('aggregated');
    expect(total).toBe(3);
    const reuse = aggregates.find(({ alertType }: { alertType: string }) => alertType === 'password_reuse');
    expect(reuse).toMatchObject({ domain: 'shop.example', severity: 'medium', count: 2, userCount: 0, openCount: 0 });
    expect(reuse.alertIds.toSorted()).toEqual([ids[0], ids[1]].toSorted());
    expect(aggregates.find(({ alertType }: { alertType: string }) => alertType === 'weak_password')).toMatchObject({
      severity: 'high',
      openCount: 1,
    });
  });

  it('compose the security posture, part by part', async () => {
    const { body } = await tenant.admin.get('/api/v1/admin/security-posture');
    expect(
      body.breakdown.map(({ category, weight }: { category: string; weight: number }) => [category, weight]),
    ).toEqual([
      ['password_hygiene', 25],
      ['breached_passwords', 20],
      ['mfa_adoption', 20],
      ['device_health', 15],
      ['alert_response', 10],
      ['policy_coverage', 10],
    ]);
    // Nobody has enrolled a browser: alerts and policies alone say nothing about the posture.
    expect([body.score, body.grade, body.limitedBy]).toEqual([null, null, 'not_enough_data']);
    expect(body.breakdown.map(({ score }: { score: number | null }) => score === null)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(body.breakdown[4]).toMatchObject({ score: 50, details: '2 of 4 alerts of 30 days are closed' });
    expect(body.breakdown[5].score).toBe(0);
    const rules = [{ domainMatch: { type: 'wildcard', value: '*' }, condition: 'any', action: 'warn' }];
    await tenant.admin.post('/api/v1/admin/policies', { name: 'All', rules });
    const covered = async () => (await tenant.admin.get('/api/v1/admin/security-posture')).body.breakdown[5].score;
    expect(await covered()).toBe(50);
    await tenant.admin.put('/api/v1/admin/settings', { extensionMode: 'warn' });
    expect(await covered()).toBe(100);
  });
});

describe('the central portal', () => {
  let tenant: TestTenant;
  beforeAll(async () => {
    tenant = await app.newTenant();
  });
  const forward = (id: string, client = tenant.admin) => client.post(`${ALERTS}/${id}/forward`);

  it('accepts an alert, also when it is sent again, and receives no personal data', async () => {
    const id = await raise(tenant, { userId: randomUUID(), url: 'https://shop.example/where-kim-was' });
    const first = await forward(id);
    expect([first.status, first.body]).toEqual([
      200,
      { forwarded: true, forwardedAt: expect.any(String), portalAlertId: expect.stringMatching(/^portal-\d+$/) },
    ]);
    expect((await tenant.admin.get(`${ALERTS}/${id}`)).body.forwardedAt).toBe(first.body.forwardedAt);
    const sent = portal.taken.at(-1)!;
    expect(sent.body).toMatchObject({
      tenantId: tenant.tenantId,
      deliveryId: sent.headers['idempotency-key'],
      alert: { id, alertType: 'password_reuse', domain: 'shop.example' },
    });
    expect(JSON.stringify(sent.body)).not.toContain('where-kim-was');
    const second = await forward(id);
    expect(second.body.portalAlertId).not.toBe(first.body.portalAlertId);
    const { rows } = await app.services.database.owner.query(
      `select data->>'portalAlertId' as portal from events where type = 'AlertForwarded' and data->>'alertId' = $1 order by position`,
      [id],
    );
    expect(rows.map(({ portal: receipt }) => receipt as string)).toEqual([
      first.body.portalAlertId,
      second.body.portalAlertId,
    ]);
  });

  it('receives alerts later that it could not accept, once', async () => {
    const id = await raise(tenant);
    portal.failNext(1);
    const refused = await forward(id);
    expect([refused.status, refused.body]).toEqual([503, expect.objectContaining({ error: 'service unavailable' })]);
    expect((await tenant.admin.get(`${ALERTS}/${id}`)).body.forwardedAt).toBeNull();
    expect((await app.services.jobs.counts()).delayed).toBeGreaterThan(0);

    const job = forwardAlertJob(app.services);
    const data = { tenantId: tenant.tenantId, alertId: id, deliveryId: randomUUID() };
    portal.failNext(1);
    await expect(job.handle(data, jobContext())).rejects.toThrow('the portal returned status 503');
    const before = portal.taken.length;
    await job.handle(data, jobContext());
    await job.handle(data, jobContext());
    await app.settled();
    expect(portal.taken.slice(before).map(({ headers }) => headers['idempotency-key'])).toEqual([
      data.deliveryId,
      data.deliveryId,
    ]);
    const { rows } = await app.services.database.owner.query(
      `select 1 from events where type = 'AlertForwarded' and data->>'alertId' = $1`,
      [id],
    );
    expect(rows).toHaveLength(1);
    expect((await tenant.admin.get(`${ALERTS}/${id}`)).body.forwardedAt).toEqual(expect.any(String));
  });

  it('is not told about alerts of another tenant', async () => {
    const foreign = await raise(await app.newTenant());
    const before = portal.taken.length;
    expect((await forward(foreign)).status).toBe(404);
    expect((await forward(randomUUID())).status).toBe(404);
    expect(portal.taken).toHaveLength(before);
  });

  it('reports whether it is configured', async () => {
    const { body } = await tenant.admin.get('/api/v1/admin/portal/status');
    expect(body).toEqual({
      configured: true,
      connected: true,
      portalUrl: portal.url,
      lastCheckedAt: expect.any(String),
      lastError: null,
    });
    const fetch = guardedFetch({ allowPrivate: true });
    expect(await new Portal(undefined, fetch).status()).toEqual({
      configured: false,
      connected: false,
      portalUrl: null,
      lastCheckedAt: null,
      lastError: null,
    });
    expect(await new Portal({ url: portal.url, apiKey: 'wrong' }, fetch).status()).toMatchObject({
      connected: false,
      lastError: 'the portal refused the API key',
    });
    expect(
      await new Portal({ url: 'http://user:secret@127.0.0.1:9', apiKey: undefined }, fetch).status(),
    ).toMatchObject({ portalUrl: 'http://127.0.0.1:9', connected: false });
    expect(await new Portal({ url: 'http://127.0.0.1:9', apiKey: undefined }, fetch).status()).toMatchObject({
      connected: false,
      lastError: 'the portal cannot be reached',
    });
  });
});

describe('a silent device', () => {
  it('raises one alert per silence, and none while muted', async () => {
    const tenant = await app.newTenant();
    const [silent, muted, lively] = [
      await enrolledDevice(app, tenant),
      await enrolledDevice(app, tenant),
      await enrolledDevice(app, tenant),
    ];
    for (const { client } of [silent, muted, lively]) client.close();
    await tenant.admin.put(`/api/v1/admin/devices/${muted.deviceId}/silence-stale-alerts`, {});
    await app.settled();
    await app.services.database.owner.query(
      `update devices set enrolled_at = now() - interval '8 days', last_seen_at = null where device_id = any($1)`,
      [[silent.deviceId, muted.deviceId]],
    );
    const job = alertStaleDevices(app.services.database.projector, app.services.executor);
    const staleAlerts = async () => {
      await job.handle({}, jobContext());
      await app.settled();
      return (await tenant.admin.get(`${ALERTS}?alert_type=device_stale`)).body.alerts;
    };
    for (let n = 0; n < 2; n += 1)
      expect(await staleAlerts()).toMatchObject([
        {
          alertType: 'device_stale',
          severity: 'low',
          deviceId: silent.deviceId,
          userId: silent.userId,
          occurrenceCount: 1,
        },
      ]);
  });
});
