import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import type { AlertType } from '../../../../src/contexts/alerts/domain/vocabulary.ts';
import { trimObservations } from '../../../../src/contexts/telemetry/trim-observations.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { hashOf, reportedLogin } from '../../../dsl/observations.ts';

const DASHBOARD = '/api/v1/admin/dashboard';
const DAY_MS = 86_400_000;
/** Noon, this many days ago: no test then crosses midnight. */
const noon = (daysBack: number) =>
  `${new Date(Date.now() - daysBack * DAY_MS).toISOString().slice(0, 10)}T12:00:00.000Z`;
const day = (daysBack: number) => noon(daysBack).slice(0, 10);
const visit = (daysBack: number, domain: string, isNewSite = true) => ({
  eventId: randomUUID(),
  kind: 'navigation',
  occurredAt: noon(daysBack),
  domain,
  data: { isNewSite },
});
const decision = (daysBack: number, action: string) => ({
  eventId: randomUUID(),
  kind: 'policy_decision',
  occurredAt: noon(daysBack),
  domain: 'a.test',
  data: { signals: [], action },
});

describe('the dashboard', () => {
  let app: TestApp;
  let acme: TestTenant;
  let kim: EnrolledDevice;
  let lee: EnrolledDevice;

  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    [kim, lee] = [await enrolledDevice(app, acme), await enrolledDevice(app, acme)];
    const breached = (daysBack: number, password: string) =>
      reportedLogin({ occurredAt: noon(daysBack) }, { isBreached: true, passwordHash: hashOf(password) });
    const fromKim = [
      visit(1, 'a.test'),
      visit(1, 'a.test'),
      visit(2, 'b.test'),
      visit(40, 'old.test'),
      visit(1, 'known.test', false),
      decision(1, 'warn'),
      decision(2, 'block'),
      breached(1, 'one'),
      breached(2, 'one'),
      breached(2, 'two'),
    ];
    for (const events of [fromKim, fromKim])
      expect((await kim.client.post('/api/v1/ext/events', { events })).status).toBe(202);
    const fromLee = [visit(1, 'a.test'), decision(1, 'warn'), decision(1, 'warn'), breached(1, 'three')];
    await lee.client.post('/api/v1/ext/events', { events: fromLee });
    for (const type of ['device_stale', 'device_stale', 'weak_password', 'verification_failed'] as const)
      await raise(type);
    await app.settled();
  });
  afterAll(async () => {
    kim.client.close();
    lee.client.close();
    await app.close();
  });

  async function raise(alertType: AlertType, title = alertType as string) {
    const alertId = randomUUID();
    const input = {
      alertId,
      alertType,
      title,
      description: 'Something',
      fingerprint: alertId,
      userId: null,
      deviceId: null,
      domain: null,
      url: null,
      cause: randomUUID(),
      metadata: {},
    };
    orThrow(await app.services.executor.execute(raiseAlert, input, { tenantId: acme.tenantId, actor: system('test') }));
  }
  const get = async (path: string) => {
    const { status, body } = await acme.admin.get(`${DASHBOARD}/${path}`);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const counts = async (path: string) =>
    (await get(path)).users.map(({ userId, count }: { userId: string; count: number }) => [userId, count]);

  it('ranks employees by new sites, warnings and passwords known from breaches', async () => {
    expect(await counts('top-users-new-sites')).toEqual([
      [kim.userId, 3],
      [lee.userId, 1],
    ]);
    expect(await counts('top-users-new-sites?days=90')).toEqual([
      [kim.userId, 4],
      [lee.userId, 1],
    ]);
    expect(await counts('top-users-warnings')).toEqual([
      [lee.userId, 2],
      [kim.userId, 1],
    ]);
    expect(await counts('top-users-warnings?limit=1')).toEqual([[lee.userId, 2]]);
    expect(await counts(`top-users-warnings?start_date=${day(3)}&end_date=${day(2)}`)).toEqual([]);
    expect(await counts('top-users-pwned')).toEqual([
      [kim.userId, 2],
      [lee.userId, 1],
    ]);
    const { users } = await get('top-users-pwned');
    expect(users[0]).toEqual({
      userId: kim.userId,
      email: expect.any(String),
      displayName: expect.any(String),
      count: 2,
    });
  });

  it('ranks types of alerts by their share', async () => {
    const { alertTypes } = await get('top-alert-types?days=1');
    const stale = alertTypes.find(({ alertType }: { alertType: string }) => alertType === 'device_stale');
    const total = alertTypes.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    expect(stale).toEqual({ alertType: 'device_stale', count: 2, percentage: Math.round(2_000 / total) / 10 });
    expect((await get('top-alert-types?limit=1')).alertTypes).toHaveLength(1);
  });

  it('shows a point for each day, with zeros for empty days', async () => {
    const { trend } = await get('trends?days=3');
    expect(trend.map(({ date }: { date: string }) => date)).toEqual([day(2), day(1), day(0)]);
    expect(trend[1]).toEqual({ date: day(1), alerts: 0, warnings: 3, blocks: 0, credentialAttempts: 2, newSites: 3 });
    expect(trend[0]).toMatchObject({ blocks: 1, warnings: 0, newSites: 1 });
    expect(trend[2].alerts).toBeGreaterThanOrEqual(4);
    expect((await get('new-sites-trend?days=2')).trend).toEqual([
      { date: day(1), count: 3 },
      { date: day(0), count: 0 },
    ]);
    expect((await get(`new-sites-trend?start_date=${day(40)}&end_date=${day(39)}`)).trend).toEqual([
      { date: day(40), count: 1 },
      { date: day(39), count: 0 },
    ]);
    expect((await get('trends')).trend).toHaveLength(30);
    expect((await get(`trends?start_date=${day(5)}`)).trend).toHaveLength(6);
    expect((await get(`trends?start_date=${day(200)}`)).trend).toHaveLength(90);
  });

  it('summarizes one day', async () => {
    expect(await get(`day-detail?date=${day(1)}`)).toEqual({
      timezone: 'UTC',
      date: day(1),
      alerts: { total: 0, bySeverity: {}, byType: {} },
      credentialAttempts: 2,
      warnings: 3,
      blocks: 0,
      newSites: [{ domain: 'a.test', userCount: 2 }],
      newSitesTotal: 1,
      activeUsers: 2,
    });
    const today = await get(`day-detail?date=${noon(0)}`);
    expect(today.alerts.byType).toMatchObject({ device_stale: 2, weak_password: 1, verification_failed: 1 });
    expect(Object.values(today.alerts.bySeverity as Record<string, number>).reduce((sum, count) => sum + count)).toBe(
      today.alerts.total,
    );
  });

  it('rejects unsupported ranges and limits', async () => {
    const bad = [
      'trends?days=0',
      'trends?days=91',
      'trends?days=x',
      'top-users-warnings?limit=51',
      `trends?start_date=${day(1)}&end_date=${day(2)}`,
      `trends?start_date=${day(95)}&end_date=${day(0)}`,
      `trends?start_date=${day(-3)}`,
      'day-detail',
      'day-detail?date=2026-02-30',
      'day-detail?date=x',
    ];
    for (const path of bad) expect([path, (await acme.admin.get(`${DASHBOARD}/${path}`)).status]).toEqual([path, 400]);
  });

  it('counts the devices that have received the policies', async () => {
    const rule = { domainMatch: { type: 'exact', value: 'a.test' }, condition: 'any', action: 'warn' };
    const create = async (name: string) =>
      (await acme.admin.post('/api/v1/admin/policies', { name, rules: [rule] })).body.id as string;
    const first = await create('first');
    const told = (await kim.client.get('/api/v1/ext/policies')).body.policyVersion as string;
    await kim.client.post('/api/v1/ext/heartbeat', { extensionVersion: '2.0.0', policyVersion: told });
    await lee.client.post('/api/v1/ext/heartbeat', { extensionVersion: '2.0.0', policyVersion: '1.999999' });
    await app.settled();
    const policy = (policyId: string, name: string, deployed: number) => ({ policyId, name, deployed, total: 2 });
    const now = await get('policy-deployment');
    expect(now).toMatchObject({ policyVersion: told, totalDevices: 2, upToDate: 1, outdated: 1, rate: 0.5 });
    expect((await get('policy-deployment-trend?days=2')).trend).toEqual([
      { date: day(1), upToDate: 0, outdated: 0, rate: 0 },
      { date: day(0), upToDate: 1, outdated: 1, rate: 0.5 },
    ]);
    const second = await create('second');
    await app.settled();
    const later = await get('policy-deployment');
    expect(later).toMatchObject({ totalDevices: 2, upToDate: 0, outdated: 2, rate: 0 });
    expect(later.policies.filter(({ policyId }: { policyId: string }) => policyId === second)).toEqual([
      policy(second, 'second', 0),
    ]);
    expect(later.policies.filter(({ policyId }: { policyId: string }) => policyId === first)).toEqual([
      policy(first, 'first', 1),
    ]);
  });

  it("counts the devices of a group's members for its policy", async () => {
    const group = (await acme.admin.post('/api/v1/admin/groups', { name: 'Pilots' })).body.id as string;
    expect(
      (await acme.admin.post(`/api/v1/admin/groups/${group}/members`, { userIds: [kim.userId] })).status,
    ).toBeLessThan(300);
    const rules = [{ domainMatch: { type: 'exact', value: 'a.test' }, condition: 'any', action: 'warn' }];
    const { body } = await acme.admin.post('/api/v1/admin/policies', { name: 'for pilots', rules, groupIds: [group] });
    await app.settled();
    const { policies } = await get('policy-deployment');
    expect(policies).toContainEqual({ policyId: body.id, name: 'for pilots', deployed: 0, total: 1 });
    expect((await acme.admin.get('/api/v1/admin/filters/groups')).body).toMatchObject({
      options: [{ value: group, label: 'Pilots', count: 1 }],
      total: 1,
    });
  });

  it('lists the values of filters, with counts', async () => {
    const options = async (of: string) => (await acme.admin.get(`/api/v1/admin/filters/${of}`)).body;
    expect(await options('users')).toMatchObject({
      options: [
        { value: kim.userId, label: expect.any(String), count: 10 },
        { value: lee.userId, label: expect.any(String), count: 4 },
      ],
      total: 2,
    });
    expect(
      (await options('devices')).options.map(({ value, count }: { value: string; count: number }) => [value, count]),
    ).toEqual([
      [kim.deviceId, 10],
      [lee.deviceId, 4],
    ]);
    expect((await options('alert-types')).options).toContainEqual({
      value: 'device_stale',
      label: 'Device stale',
      count: 2,
    });
    const extension = (extensionId: string) => ({ extensionId, name: `Name of ${extensionId}`, version: '1' });
    const inventory = (...ids: string[]) => ({
      eventId: randomUUID(),
      kind: 'extension_inventory',
      occurredAt: noon(1),
      data: { extensions: ids.map(extension) },
    });
    await kim.client.post('/api/v1/ext/events', { events: [inventory('aaaa', 'bbbb')] });
    await lee.client.post('/api/v1/ext/events', { events: [inventory('bbbb')] });
    await kim.client.post('/api/v1/ext/events', {
      events: [
        { ...visit(1, 'a.test'), data: { technologies: [{ name: 'nginx' }, { name: 'nginx' }] } },
        { ...visit(1, 'b.test'), data: { technologies: [{ name: 'nginx' }, { name: 'React' }] } },
      ],
    });
    await app.settled();
    expect(await options('extensions')).toMatchObject({
      options: [
        { value: 'bbbb', label: 'Name of bbbb', count: 2 },
        { value: 'aaaa', label: 'Name of aaaa', count: 1 },
      ],
      total: 2,
    });
    expect(await options('technologies')).toMatchObject({
      options: [
        { value: 'nginx', label: 'nginx', count: 2 },
        { value: 'React', label: 'React', count: 1 },
      ],
      total: 2,
    });
  });

  it('shows nothing of another tenant, and drops deleted users', async () => {
    const other = await app.newTenant();
    for (const path of ['top-users-warnings', 'top-users-new-sites', 'top-users-pwned'])
      expect((await other.admin.get(`${DASHBOARD}/${path}`)).body.users).toEqual([]);
    expect((await other.admin.get(`${DASHBOARD}/day-detail?date=${day(1)}`)).body).toMatchObject({
      activeUsers: 0,
      warnings: 0,
      newSites: [],
    });
    expect((await acme.admin.delete(`/api/v1/admin/users/${lee.userId}`)).status).toBe(204);
    await app.settled();
    expect(await counts('top-users-warnings')).toEqual([[kim.userId, 1]]);
    expect(await get(`day-detail?date=${day(1)}`)).toMatchObject({
      warnings: 3,
      activeUsers: 1,
      newSites: [{ domain: 'a.test', userCount: 1 }],
    });
  });

  it('drops activity of a day that is past its retention', async () => {
    expect(await counts('top-users-new-sites?days=90')).toEqual([[kim.userId, 4]]);
    const kept = { eventRetentionDays: 30, streamRetentionDays: 365 };
    await trimObservations(app.services.database.projector, kept).handle({}, {
      signal: new AbortController().signal,
    } as never);
    expect(await counts('top-users-new-sites?days=90')).toEqual([[kim.userId, 3]]);
  });
});
