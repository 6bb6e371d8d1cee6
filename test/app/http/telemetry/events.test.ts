import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trimObservations } from '../../../../src/contexts/telemetry/trim-observations.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { hashOf, reportedLogin } from '../../../dsl/observations.ts';

const EVENTS = '/api/v1/admin/events';
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const visit = (hours: number, over: Record<string, unknown> = {}) => ({
  eventId: randomUUID(),
  kind: 'navigation',
  occurredAt: ago(hours),
  domain: 'wiki.example',
  url: 'https://wiki.example/page',
  data: {
    title: 'A page',
    referrerDomain: 'search.example',
    technologies: [{ name: 'nginx', version: null }],
    isNewSite: true,
  },
  ...over,
});
const signIn = {
  kind: 'auth_flow',
  data: { provider: 'entra_id', method: 'oidc', relyingParty: 'app.example', mfaObserved: true, outcome: 'success' },
};

describe('the event viewer', () => {
  let app: TestApp;
  let acme: TestTenant;
  let kim: EnrolledDevice;
  let lee: EnrolledDevice;
  const sent = [
    visit(1),
    visit(2, { domain: 'news.example' }),
    visit(50),
    visit(0.5, signIn),
    reportedLogin({ occurredAt: ago(0.1) }, { isBreached: true }),
  ];

  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    [kim, lee] = [await enrolledDevice(app, acme), await enrolledDevice(app, acme)];
    for (const events of [sent, sent])
      expect((await kim.client.post('/api/v1/ext/events', { events })).status).toBe(202);
    await lee.client.post('/api/v1/ext/events', { events: [visit(3)] });
    await app.settled();
  });
  afterAll(async () => {
    kim.client.close();
    lee.client.close();
    await app.close();
  });

  const idsOf = async (query: string) => {
    const { status, body } = await acme.admin.get(`${EVENTS}/${query}`);
    expect(status).toBe(200);
    return (body.events as { id: string }[]).map(({ id }) => id);
  };

  it('shows observations once each, latest first', async () => {
    const { body } = await acme.admin.get(`${EVENTS}/navigation`);
    expect([body.total, body.page, body.pageSize, body.totalPages]).toEqual([4, 1, 20, 1]);
    expect(body.events[0]).toEqual({
      id: sent[0]!.eventId,
      kind: 'navigation',
      userId: kim.userId,
      userEmail: expect.any(String),
      deviceId: kim.deviceId,
      domain: 'wiki.example',
      url: 'https://wiki.example/page',
      occurredAt: sent[0]!.occurredAt,
      receivedAt: expect.any(String),
      data: sent[0]!.data,
    });
    expect(await idsOf('auth-flow')).toEqual([sent[3]!.eventId]);
    expect((await acme.admin.get(`${EVENTS}/auth-flow`)).body.events[0].data).toEqual(signIn.data);
  });

  it('never shows the digest of a password', async () => {
    const { body, text } = await acme.admin.get(`${EVENTS}/credential-attempts`);
    expect(body.events[0].data).toEqual({
      username: 'kim',
      isBreached: true,
      action: 'allow',
      userDecision: 'none',
      policyId: null,
    });
    expect(text).not.toContain(hashOf('one'));
  });

  it('filters by user, device, domain and time', async () => {
    expect(await idsOf(`navigation?user_id=${kim.userId}`)).toEqual([
      sent[0]!.eventId,
      sent[1]!.eventId,
      sent[2]!.eventId,
    ]);
    expect(await idsOf(`navigation?device_id=${lee.deviceId}`)).toHaveLength(1);
    expect(await idsOf('navigation?domain=NEWS.example')).toEqual([sent[1]!.eventId]);
    expect(await idsOf(`navigation?user_id=${kim.userId}&start_date=${ago(2.5)}&end_date=${ago(1.5)}`)).toEqual([
      sent[1]!.eventId,
    ]);
    expect(await idsOf(`navigation?user_id=${kim.userId}&page=2&page_size=2`)).toEqual([sent[2]!.eventId]);
    for (const bad of ['user_id=x', 'domain=no%20host', 'page=0', `start_date=${ago(1)}&end_date=${ago(2)}`]) {
      expect((await acme.admin.get(`${EVENTS}/navigation?${bad}`)).status).toBe(400);
    }
  });

  it('counts by kind and day', async () => {
    const { body } = await acme.admin.get(`${EVENTS}/stats`);
    expect(body).toMatchObject({ total: 6, navigation: 4, credentialAttempts: 1, authFlow: 1, extension: 0 });
    expect(body.byDay.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(6);
    const dayOf50 = sent[2]!.occurredAt.slice(0, 10);
    expect((await acme.admin.get(`${EVENTS}/stats?start_date=${dayOf50}&end_date=${dayOf50}`)).body).toMatchObject({
      total: 1,
      byDay: [{ date: dayOf50, count: 1 }],
    });
  });

  it('shows nothing of another tenant, and only the counts to a viewer', async () => {
    const other = await app.newTenant();
    expect((await other.admin.get(`${EVENTS}/navigation`)).body).toMatchObject({ events: [], total: 0 });
    expect((await other.admin.get(`${EVENTS}/stats`)).body).toMatchObject({ total: 0, byDay: [] });
    const { client: viewer } = await app.adminWithRole(acme, 'viewer');
    expect((await viewer.get(`${EVENTS}/stats`)).status).toBe(200);
    expect((await viewer.get(`${EVENTS}/navigation`)).status).toBe(403);
  });

  it('drops events past their retention, and those of deleted employees', async () => {
    const tenant = await app.newTenant({ license: { maxEventRetentionDays: 3 } });
    const device = await enrolledDevice(app, tenant);
    await device.client.post('/api/v1/ext/events', { events: [visit(1), visit(47)] });
    await app.settled();
    const total = async () => (await tenant.admin.get(`${EVENTS}/navigation`)).body.total as number;
    const trim = (eventRetentionDays: number) =>
      trimObservations(app.services.database.projector, { eventRetentionDays, streamRetentionDays: 365 }).handle({}, {
        signal: new AbortController().signal,
      } as never);
    await trim(90);
    expect(await total()).toBe(2);
    await trim(1);
    expect(await total()).toBe(1);
    await tenant.admin.delete(`/api/v1/admin/users/${device.userId}`);
    await app.settled();
    expect(await total()).toBe(0);
    device.client.close();
  });
});
