import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { deliveryWhere, eventually, newAlert, NOTIFICATIONS } from '../../../dsl/notified.ts';
import { startHttpPushPeer } from '../../../fixtures/push-peers.ts';
import { SmtpPeer } from '../../../fixtures/smtp-peer.ts';

const SCHEDULES = '/api/v1/admin/on-call/schedules';
const DEVICES = '/api/v1/admin/mobile/devices';
type Person = Awaited<ReturnType<TestApp['adminWithRole']>>;

describe('pushes', () => {
  let app: TestApp;
  let gateway: Awaited<ReturnType<typeof startHttpPushPeer>>;
  beforeAll(async () => {
    gateway = await startHttpPushPeer();
    app = await startApp({
      push: { gateway: { url: gateway.url, token: undefined }, fcm: undefined, apns: undefined },
    });
  });
  afterAll(async () => {
    await app.close();
    await gateway.close();
  });

  /** A tenant that pushes everything, with somebody who has a phone. */
  const prepared = async (): Promise<{ tenant: TestTenant; bo: Person; token: string }> => {
    const tenant = await app.newTenant();
    await tenant.admin.put(`${NOTIFICATIONS}/settings`, { pushEnabled: true });
    await tenant.admin.post(`${NOTIFICATIONS}/push-rules`, { name: 'Everything' });
    const bo = await app.adminWithRole(tenant, 'analyst');
    const token = `token-${randomUUID()}`;
    await bo.client.post(DEVICES, { platform: 'android', pushToken: token });
    await app.settled();
    return { tenant, bo, token };
  };
  const onCall = (tenant: TestTenant, ...people: Person[]) =>
    tenant.admin.post(SCHEDULES, {
      name: 'Primary',
      participants: people.map(({ adminId }) => adminId),
      startDate: new Date(Date.now() - 9 * 86_400_000).toISOString().slice(0, 10),
    });
  const received = (token: string) =>
    gateway.messages.requests.map(({ body }) => JSON.parse(body)).filter((push) => push.token === token);

  it('reach the device of the person on call, with id and severity only', async () => {
    const { tenant, bo, token } = await prepared();
    await onCall(tenant, bo);
    const alertId = await newAlert(app, tenant);
    const [push] = await eventually(() => (received(token).length > 0 ? received(token) : undefined));
    expect(push).toMatchObject({
      notification: { title: 'High alert' },
      data: { kind: 'alert', alertId, severity: 'high', change: 'created' },
    });
    expect(JSON.stringify(push)).not.toMatch(/phish|blocked|@/);
    const delivery = await deliveryWhere(tenant, ({ channel, state }) => channel === 'push' && state === 'delivered');
    expect(push.id).toBe(delivery.messageId);
  });

  it('reach nobody who is not on call, whom no rule means, or whose preferences exclude the alert', async () => {
    const { tenant, bo, token } = await prepared();
    await newAlert(app, tenant);
    await app.settled();
    await onCall(tenant, bo);
    await newAlert(app, tenant, { severity: 'low' });
    const rules = (await tenant.admin.get(`${NOTIFICATIONS}/push-rules`)).body.rules;
    await tenant.admin.put(`${NOTIFICATIONS}/push-rules/${rules[0].id}`, { alertTypes: ['device_stale'] });
    await newAlert(app, tenant);
    await app.settled();
    await tenant.admin.put(`${NOTIFICATIONS}/push-rules/${rules[0].id}`, { alertTypes: [] });
    const last = await newAlert(app, tenant);
    await eventually(() => received(token).find(({ data }) => data.alertId === last));
    expect(received(token)).toHaveLength(1);
  });

  it('are refused at the last moment for somebody who lost the mobile access', async () => {
    const { tenant, bo, token } = await prepared();
    await onCall(tenant, bo);
    gateway.messages.replies.push({ status: 503 });
    await newAlert(app, tenant);
    await eventually(() => received(token)[0]);
    await tenant.admin.put(`/api/v1/admin/admin-users/${bo.adminId}/mobile-access`, { mobileAccess: false });
    const refused = await deliveryWhere(tenant, ({ state }) => state === 'refused');
    expect(refused.channel).toBe('push');
    expect(received(token)).toHaveLength(1);
  });

  it('are tried again if the removal of a device cannot be recorded', async () => {
    const { tenant, bo, token } = await prepared();
    await onCall(tenant, bo);
    gateway.messages.replies.push({ status: 410 }, { status: 410 });
    const restore = unavailableOnce(app.services.executor, 'RemoveMobileDevice');
    try {
      await newAlert(app, tenant);
      await deliveryWhere(tenant, ({ state }) => state === 'refused');
      expect(received(token)).toHaveLength(2);
      expect((await bo.client.get(DEVICES)).body.total).toBe(0);
    } finally {
      restore();
    }
  });

  it('remove a device whose token is gone', async () => {
    const { tenant, bo, token } = await prepared();
    await onCall(tenant, bo);
    gateway.messages.replies.push({ status: 410 });
    await newAlert(app, tenant);
    await deliveryWhere(tenant, ({ state }) => state === 'refused');
    expect((await bo.client.get(DEVICES)).body.total).toBe(0);
    expect(received(token)).toHaveLength(1);
    const { auditLogs } = (await tenant.admin.get('/api/v1/admin/audit-log?page_size=100')).body;
    expect(auditLogs).toContainEqual(
      expect.objectContaining({
        action: 'mobile_device.removed',
        details: expect.objectContaining({ reason: 'token_gone' }),
      }),
    );
  });
});

describe('a critical alert while nobody is on call', () => {
  it('is told to all super admins by e-mail, and one alert is raised for the gap', async () => {
    const app = await startApp({ devMode: true });
    const peer = await SmtpPeer.start({ disabledCommands: ['STARTTLS'] });
    try {
      const tenant = await app.newTenant();
      const second = await app.adminWithRole(tenant, 'super_admin');
      const analyst = await app.adminWithRole(tenant, 'analyst');
      await tenant.admin.put(`${NOTIFICATIONS}/settings`, {
        smtpHost: 'localhost',
        smtpPort: peer.port,
        smtpSecurity: 'none',
        smtpFrom: 'alerts@acme.example',
      });
      await app.settled();
      // Without schedules, nobody expects anybody to be on call.
      await newAlert(app, tenant, { severity: 'critical' });
      await app.settled();
      await tenant.admin.post(SCHEDULES, { name: 'Primary', participants: [analyst.adminId] });
      await tenant.admin.put(`/api/v1/admin/admin-users/${analyst.adminId}`, { status: 'suspended' });
      await newAlert(app, tenant, { severity: 'high' });
      const first = await newAlert(app, tenant, { severity: 'critical', title: 'First' });
      const next = await newAlert(app, tenant, { severity: 'critical', title: 'Second' });
      await eventually(() => peer.received[3]);
      const emails = (await tenant.admin.get('/api/v1/admin/admin-users')).body.adminUsers
        .filter(({ roleType }: { roleType: string }) => roleType === 'super_admin')
        .map(({ email }: { email: string }) => email);
      expect(emails).toHaveLength(2);
      expect(second.adminId).not.toBe(tenant.adminId);
      expect(peer.received.flatMap(({ to }) => to).toSorted()).toEqual([...emails, ...emails].toSorted());
      expect(peer.received.map(({ parsed }) => parsed.subject).toSorted()).toEqual([
        '[Castellan] Nobody is on call for: First',
        '[Castellan] Nobody is on call for: First',
        '[Castellan] Nobody is on call for: Second',
        '[Castellan] Nobody is on call for: Second',
      ]);
      await app.settled();
      const { alerts } = (await tenant.admin.get('/api/v1/admin/alerts')).body;
      const gaps = alerts.filter(({ title }: { title: string }) => title === 'Nobody is on call');
      expect(gaps).toMatchObject([{ severity: 'high', metadata: { kind: 'nobody_on_call' } }]);
      expect([first, next]).toContain(gaps[0].metadata.alertId);
    } finally {
      await app.close();
      await peer.close();
    }
  });
});
