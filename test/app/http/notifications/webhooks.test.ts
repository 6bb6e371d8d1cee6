import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  DELIVERIES,
  deliveryWhere,
  eventually,
  newAlert,
  NOTIFICATIONS,
  webhookSecret,
  withWebhook,
} from '../../../dsl/notified.ts';
import {
  accept,
  hang,
  neverEnd,
  returning,
  startWebhookReceiver,
  type ReceivedWebhook,
  type WebhookReceiver,
} from '../../../fixtures/webhook-receiver.ts';

const verified = (secret: string, { body, headers }: ReceivedWebhook): any =>
  // eslint-disable-line @typescript-eslint/no-explicit-any
  new Webhook(secret).verify(body, headers as Record<string, string>);

describe('webhooks', () => {
  let app: TestApp;
  const receivers: WebhookReceiver[] = [];
  const receiver = async (...behaviour: Parameters<typeof startWebhookReceiver>) => {
    const started = await startWebhookReceiver(...behaviour);
    receivers.push(started);
    return started;
  };
  beforeAll(async () => {
    app = await startApp({ devMode: true });
  });
  afterAll(async () => {
    await app.close();
    await Promise.all(receivers.map((each) => each.close()));
  });

  const gone = (tenant: TestTenant, state: string) => deliveryWhere(tenant, (each) => each.state === state);

  it('tell of a new alert and of decisions about it, as the reference verifier accepts', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    const secret = await withWebhook(tenant, url);
    const alertId = await newAlert(app, tenant);
    await eventually(() => received[0]);
    await tenant.admin.put(`/api/v1/admin/alerts/${alertId}/acknowledge`, { notes: 'seen' });
    const second = await eventually(() => received[1]);
    const first = received[0]!;
    expect(verified(secret, first)).toMatchObject({
      type: 'alert.created',
      tenantId: tenant.tenantId,
      data: { alert: { id: alertId, status: 'open', severity: 'high', domain: 'phish.example' } },
    });
    expect(verified(secret, second)).toMatchObject({
      type: 'alert.updated',
      data: { alert: { id: alertId, status: 'acknowledged' } },
    });
    expect(() => verified(webhookSecret(), first)).toThrow();
    expect(first.headers['webhook-id']).not.toBe(second.headers['webhook-id']);

    const [delivery] = (
      await tenant.admin.get(`${DELIVERIES}?alertId=${alertId}&state=delivered`)
    ).body.deliveries.slice(-1);
    expect(delivery).toMatchObject({ channel: 'webhook', state: 'delivered', messageId: first.headers['webhook-id'] });
    const { body } = await tenant.admin.get(`${DELIVERIES}/${delivery.id}`);
    expect(body.attempts).toEqual([
      {
        attempt: 1,
        startedAt: expect.any(String),
        endedAt: expect.any(String),
        outcome: 'accepted',
        response: 'status 204',
        durationMs: expect.any(Number),
      },
    ]);
  });

  it('leave out alerts that the settings exclude', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    const secret = await withWebhook(tenant, url);
    await tenant.admin.put(`${NOTIFICATIONS}/settings`, { minSeverity: 'high', alertTypes: ['phishing_detected'] });
    await newAlert(app, tenant, { severity: 'medium' });
    await newAlert(app, tenant, { alertType: 'malicious_domain' });
    const told = await newAlert(app, tenant, { severity: 'critical' });
    const one = await eventually(() => received[0]);
    expect(verified(secret, one).data.alert.id).toBe(told);
    await app.settled();
    expect((await tenant.admin.get(DELIVERIES)).body.total).toBe(1);
  });

  it('repeat a failed attempt with the same id and body', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver((response, n) => (n === 1 ? returning(500)(response) : accept(response)));
    const secret = await withWebhook(tenant, url);
    await newAlert(app, tenant);
    const again = await eventually(() => received[1]);
    expect(again.headers['webhook-id']).toBe(received[0]!.headers['webhook-id']);
    expect(again.body).toBe(received[0]!.body);
    expect(verified(secret, again).type).toBe('alert.created');
    const delivery = await gone(tenant, 'delivered');
    const { attempts } = (await tenant.admin.get(`${DELIVERIES}/${delivery.id}`)).body;
    expect(attempts.map(({ outcome, response }: Record<string, string>) => [outcome, response])).toEqual([
      ['deferred', 'status 500'],
      ['accepted', 'status 204'],
    ]);
  });

  it('are signed with both secrets during a rotation', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    const former = await withWebhook(tenant, url, 'a secret without a prefix');
    const present = webhookSecret();
    const rotated = await tenant.admin.put(`${NOTIFICATIONS}/webhook-secret`, { secret: present });
    expect(rotated.body).toEqual({ configured: true, formerSecretUntil: expect.any(String) });
    await newAlert(app, tenant);
    const { body, headers } = await eventually(() => received[0]);
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(verified(present, received[0]!).type).toBe('alert.created');
    const raw = new Webhook(former, { format: 'raw' });
    expect(() => raw.verify(body, headers as Record<string, string>)).not.toThrow();
  });

  it('are tried again if 410 cannot be recorded', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver(returning(410));
    await withWebhook(tenant, url);
    const restore = unavailableOnce(app.services.executor, 'DisableWebhook');
    try {
      await newAlert(app, tenant);
      const { id } = await gone(tenant, 'refused');
      const { attempts } = (await tenant.admin.get(`${DELIVERIES}/${id}`)).body;
      expect(attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['deferred', 'refused']);
      expect(received).toHaveLength(2);
      expect((await tenant.admin.get(`${NOTIFICATIONS}/settings`)).body).toMatchObject({ webhookEnabled: false });
    } finally {
      restore();
    }
  });

  it('are switched off by 410, which the settings and the audit log show', async () => {
    const tenant = await app.newTenant();
    const { url, received, behave } = await receiver(returning(410));
    await withWebhook(tenant, url);
    await newAlert(app, tenant);
    const refused = await gone(tenant, 'refused');
    const settings = await eventually(async () => {
      const { body } = await tenant.admin.get(`${NOTIFICATIONS}/settings`);
      return body.webhookDisabled ? body : undefined;
    });
    expect(settings).toMatchObject({ webhookEnabled: false, webhookDisabled: { reason: 'gone' } });
    const { body: log } = await tenant.admin.get('/api/v1/admin/audit-log?page_size=100');
    expect(JSON.stringify(log)).toContain('alert_notification_settings.webhook_disabled');
    await newAlert(app, tenant);
    await app.settled();
    expect(received).toHaveLength(1);

    // Once it is on again, an administrator retries what was refused.
    behave(accept);
    const on = await tenant.admin.put(`${NOTIFICATIONS}/settings`, { webhookEnabled: true });
    expect(on.body).toMatchObject({ webhookEnabled: true, webhookDisabled: null });
    expect((await tenant.admin.post(`${DELIVERIES}/${refused.id}/retry`)).status).toBe(200);
    await gone(tenant, 'delivered');
    expect(received[1]!.headers['webhook-id']).toBe(received[0]!.headers['webhook-id']);
    const twice = await tenant.admin.post(`${DELIVERIES}/${refused.id}/retry`);
    expect([twice.status, twice.body.code]).toEqual([409, 'delivery_not_failed']);
  });

  it('follow no redirect, and read no endless response', async () => {
    const target = await receiver();
    const tenant = await app.newTenant();
    const { url, behave, received } = await receiver(returning(302, { location: target.url }));
    await withWebhook(tenant, url);
    const test = await tenant.admin.post(`${NOTIFICATIONS}/test-webhook`, {});
    expect(test.body).toMatchObject({ success: false, message: 'status 302: redirects are not followed' });
    behave(neverEnd);
    const endless = await tenant.admin.post(`${NOTIFICATIONS}/test-webhook`, {});
    expect(endless.body).toMatchObject({ success: false, message: 'the response was too long' });
    behave(accept);
    const good = await tenant.admin.post(`${NOTIFICATIONS}/test-webhook`, {});
    expect(good.body).toMatchObject({ success: true, message: 'status 204' });
    expect(JSON.parse(received.at(-1)!.body)).toMatchObject({ type: 'test', tenantId: tenant.tenantId, data: {} });
    expect(target.received).toEqual([]);
  });

  it('of one tenant hang, while those of another arrive', async () => {
    const [slow, quick] = [await app.newTenant(), await app.newTenant()];
    const [hanging, healthy] = [await receiver(hang), await receiver()];
    await withWebhook(slow, hanging.url);
    await withWebhook(quick, healthy.url);
    for (let n = 0; n < 30; n += 1) await newAlert(app, slow);
    await eventually(() => hanging.received[3]);
    await newAlert(app, quick);
    await gone(quick, 'delivered');
    // No more than the tenant's share at a time, and the first are still waiting.
    expect(hanging.received).toHaveLength(4);
    expect((await slow.admin.get(`${DELIVERIES}?state=delivered`)).body.total).toBe(0);
  });
});
