import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestResponse, type TestTenant } from '../../../dsl/app.ts';
import { NOTIFICATIONS, webhookSecret } from '../../../dsl/notified.ts';

const DESTINATIONS = '/api/v1/admin/integrations/log-destinations';

/** OP-436. */
describe('a watch that is silenced', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const changes = async (): Promise<string[]> => {
    await app.settled();
    const { alerts } = (await tenant.admin.get('/api/v1/admin/alerts?page_size=100')).body as {
      alerts: { metadata: { change: string } }[];
    };
    return alerts.map(({ metadata }) => metadata.change).toReversed();
  };
  /** What the change of `act` raised. */
  const raisedBy = async (act: () => Promise<TestResponse>): Promise<string[]> => {
    const before = (await changes()).length;
    expect((await act()).status).toBeLessThan(300);
    return (await changes()).slice(before);
  };
  const isRefused = ({ status, body }: TestResponse) => {
    expect([status, body.error]).toEqual([403, 're-authentication required']);
  };

  it('is announced if it is a log destination, and needs a proof', async () => {
    const { id } = (
      await tenant.admin.post(DESTINATIONS, {
        name: 'SIEM',
        type: 'webhook',
        config: { url: 'https://siem.acme.example' },
        eventTypes: ['alert', 'audit', 'navigation'],
      })
    ).body;
    const one = `${DESTINATIONS}/${id}`;
    const thief = app.as(tenant.token);
    isRefused(await thief.put(one, { isEnabled: false }));
    isRefused(await thief.put(one, { eventTypes: ['alert', 'navigation'] }));
    isRefused(await thief.delete(one));
    expect(await raisedBy(() => thief.put(one, { eventTypes: ['alert', 'audit'], name: 'Renamed' }))).toEqual([]);

    expect(await raisedBy(() => tenant.admin.put(one, { eventTypes: ['alert'] }))).toEqual([
      'log_destination_silenced',
    ]);
    expect(await raisedBy(() => tenant.admin.put(one, { isEnabled: false }))).toEqual(['log_destination_silenced']);
    expect(await raisedBy(() => thief.put(one, { eventTypes: ['navigation'] }))).toEqual([]);
    expect(await raisedBy(() => thief.put(one, { isEnabled: true, eventTypes: ['alert', 'audit'] }))).toEqual([]);
    expect(await raisedBy(() => tenant.admin.delete(one))).toEqual(['log_destination_removed']);
  });

  it('is announced if it is an alert notification, and needs a proof', async () => {
    const thief = app.as(tenant.token);
    const settings = `${NOTIFICATIONS}/settings`;
    const ready = {
      emailRecipients: ['soc@acme.example', 'ciso@acme.example'],
      smtpHost: 'mail.acme.example',
      smtpFrom: 'castellan@acme.example',
      webhookEnabled: true,
      webhookUrl: 'https://hooks.acme.example',
      pushEnabled: true,
    };
    expect((await tenant.admin.put(settings, ready)).status).toBe(200);
    expect(
      await raisedBy(() => tenant.admin.put(`${NOTIFICATIONS}/webhook-secret`, { secret: webhookSecret() })),
    ).toEqual(['webhook_secret_changed']);
    for (const silent of [
      { emailRecipients: ['soc@acme.example'] },
      { smtpHost: null },
      { webhookEnabled: false },
      { webhookUrl: null, webhookEnabled: false },
      { pushEnabled: false },
      { minSeverity: 'critical' },
      { alertTypes: ['phishing_detected'] },
    ])
      isRefused(await thief.put(settings, silent));
    expect(await raisedBy(() => thief.put(settings, { minSeverity: 'high' }))).toEqual(['notifications_narrowed']);
    expect(await raisedBy(() => tenant.admin.put(settings, { minSeverity: 'critical' }))).toEqual([
      'notifications_silenced',
    ]);
    expect(
      await raisedBy(() => tenant.admin.put(`${NOTIFICATIONS}/smtp-password`, { password: 'new-password' })),
    ).toEqual(['smtp_password_changed']);
    expect(await raisedBy(() => tenant.admin.put('/api/v1/admin/settings', { alertEmailEnabled: false }))).toEqual([
      'alert_email_switched_off',
    ]);
    expect(await raisedBy(() => tenant.admin.put('/api/v1/admin/settings', { staleDeviceDays: 5 }))).toEqual([]);
  });
});
