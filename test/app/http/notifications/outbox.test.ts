import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planNotification } from '../../../../commands/notifications/plan-notification.ts';
import { delivery, deliveryStream } from '../../../../src/contexts/notifications/domain/delivery.ts';
import {
  notificationSettings,
  notificationSettingsStream,
} from '../../../../src/contexts/notifications/domain/settings.ts';
import { deliveryWaking } from '../../../../src/contexts/notifications/jobs.ts';
import { sweepDeliveries } from '../../../../src/contexts/notifications/sweep-deliveries.ts';
import { alertNotificationSettings } from '../../../../projections/notifications/alert-notification-settings.ts';
import { deliveries } from '../../../../projections/notifications/deliveries.ts';
import { deliveryAttempts } from '../../../../projections/notifications/delivery-attempts.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { rebuildLive } from '../../../../src/platform/projector/rebuild.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  DELIVERIES,
  deliveryWhere,
  eventually,
  newAlert,
  NOTIFICATIONS,
  sweepOutbox,
  webhookSecret,
  withWebhook,
} from '../../../dsl/notified.ts';
import { findRedis, startRedis } from '../../../dsl/redis.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../fixtures/webhook-receiver.ts';

const MINUTE = 60_000;
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();

/** What a process left that was killed: a delivery of the past without a job, also in the middle of an attempt. */
const abandonDelivery = defineCommand({
  name: 'AbandonDelivery',
  aggregate: delivery,
  stream: ({ deliveryId }: { deliveryId: string; isStarted: boolean }, { tenantId }) =>
    deliveryStream(tenantId, deliveryId),
  decide(_state, { deliveryId, isStarted }) {
    const recipient = { kind: 'webhook' as const };
    // The outbox makes no job for a test.
    const subject = { kind: 'test' as const, occurredAt: ago(5 * MINUTE) };
    const message = { deliveryId, channel: 'webhook' as const, recipient, subject, messageId: deliveryId };
    const planned = { ...message, replayId: null, digestDueAt: null, plannedAt: ago(5 * MINUTE) };
    const begun = { deliveryId, attempt: 1, startedAt: ago(4 * MINUTE), heldUntil: ago(3 * MINUTE) };
    return accept([
      { type: 'DeliveryPlanned', data: planned },
      ...(isStarted ? [{ type: 'DeliveryAttemptStarted' as const, data: begun }] : []),
    ]);
  },
});

/** An address that was stored before its name led to a private network. */
const moveWebhook = defineCommand({
  name: 'MoveWebhook',
  aggregate: notificationSettings,
  stream: (_input: { webhookUrl: string }, { tenantId }) => notificationSettingsStream(tenantId),
  decide: (_state, { webhookUrl }) => accept([{ type: 'AlertNotificationSettingsChanged', data: { webhookUrl } }]),
  freshens: ['alert_notification_settings'],
});

describe('the outbox', () => {
  let app: TestApp;
  const receivers: WebhookReceiver[] = [];
  const receiver = async () => {
    const started = await startWebhookReceiver();
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

  const asSystem = ({ tenantId }: TestTenant) => ({ tenantId, actor: system('test') });
  const sweep = () => sweepOutbox(app);

  it.each([
    ['before its first attempt', false],
    ['in the middle of an attempt', true],
  ])('sends what a killed process left %s', async (_when, isStarted) => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    await withWebhook(tenant, url);
    const deliveryId = randomUUID();
    orThrow(await app.services.executor.execute(abandonDelivery, { deliveryId, isStarted }, asSystem(tenant)));
    await sweep();
    expect((await eventually(() => received[0])).headers['webhook-id']).toBe(deliveryId);
    await deliveryWhere(tenant, ({ state }) => state === 'delivered');
    const { attempts } = (await tenant.admin.get(`${DELIVERIES}/${deliveryId}`)).body;
    expect(attempts.map(({ outcome }: { outcome: string | null }) => outcome)).toEqual(
      isStarted ? [null, 'accepted'] : ['accepted'],
    );
    await sweep();
    await app.settled();
    expect(received).toHaveLength(1);
  });

  it('sends nothing when read models are rebuilt', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    await withWebhook(tenant, url);
    await newAlert(app, tenant);
    await deliveryWhere(tenant, ({ state }) => state === 'delivered');
    const before = (await tenant.admin.get(DELIVERIES)).body;
    const { store, codec, database, projector } = app.services;
    for (const model of [deliveries, deliveryAttempts, alertNotificationSettings])
      await rebuildLive({ store, codec, pool: database.projector }, projector, model, () => {});
    await sweep();
    expect((await tenant.admin.get(DELIVERIES)).body).toEqual(before);
    expect(received).toHaveLength(1);
  });

  it('tells nothing of an erased person', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    const { body: person } = await tenant.admin.post('/api/v1/admin/users', {
      email: 'ann@acme.example',
      displayName: 'Ann',
    });
    const alertId = await newAlert(app, tenant, { userId: person.id, title: 'About Ann' });
    await app.settled();
    expect((await tenant.admin.delete(`/api/v1/admin/users/${person.id}?erase=true`)).status).toBe(204);
    await app.settled();
    await withWebhook(tenant, url);
    const replay = await tenant.admin.post(`${NOTIFICATIONS}/webhooks/replay`, { from: ago(MINUTE) });
    expect(replay.status).toBe(200);
    await app.settled();
    const [, ended] = await eventually(async () => {
      const { body } = await tenant.admin.get('/api/v1/admin/audit-log?page_size=100');
      const actions = JSON.stringify(body);
      return actions.includes('webhook_replay.ended') ? [alertId, actions] : undefined;
    });
    expect(ended).toContain('webhook_replay.started');
    expect(received.filter(({ body }) => body.includes('About Ann'))).toEqual([]);
  });

  it('limits messages about alerts to an address, and holds the rest back for a digest', async () => {
    const tenant = await app.newTenant();
    const recipients = [{ kind: 'email' as const, address: 'soc@acme.example' }];
    for (let n = 0; n < 25; n += 1) {
      const severity = n < 3 ? ('critical' as const) : ('low' as const);
      const about = { alertId: randomUUID(), eventId: randomUUID(), change: 'created' as const, severity };
      const subject = { kind: 'alert' as const, ...about, occurredAt: ago(0) };
      const plan = { channel: 'email' as const, cause: about.eventId, subject, recipients };
      orThrow(await app.services.executor.execute(planNotification, plan, asSystem(tenant)));
    }
    const held = await eventually(async () => {
      const { body } = await tenant.admin.get(`${DELIVERIES}?channel=email&page_size=100`);
      return body.total === 25
        ? body.deliveries.filter(({ state }: { state: string }) => state === 'held_back')
        : undefined;
    });
    expect(held).toHaveLength(2);
    expect(held[0]).toMatchObject({ subject: { severity: 'low' }, digestDueAt: expect.any(String) });
  });

  it('sends history again, marked, with the ids and bodies of before', async () => {
    const tenant = await app.newTenant();
    const { url, received } = await receiver();
    const unheard = await newAlert(app, tenant);
    await app.settled();
    const secret = await withWebhook(tenant, url);
    const heard = await newAlert(app, tenant);
    await eventually(() => received[0]);
    await tenant.admin.put(`/api/v1/admin/alerts/${heard}/acknowledge`);
    await eventually(() => received[1]);
    await app.settled();

    const range = { from: ago(MINUTE), types: ['alert.created'] };
    const path = `${NOTIFICATIONS}/webhooks/replay`;
    const dry = await tenant.admin.post(path, { ...range, dryRun: true });
    // A third alert is about the new webhook: the settings exclude its type.
    expect(dry.body).toMatchObject({ replayId: null, events: 2, types: ['alert.created'] });
    const { body: replay } = await tenant.admin.post(path, range);
    expect(replay).toMatchObject({ replayId: expect.any(String), events: 2 });
    await eventually(() => received[3]);
    const again = received.slice(2);
    for (const one of again) {
      expect(one.headers['castellan-replay']).toBe(replay.replayId);
      expect(() => new Webhook(secret).verify(one.body, one.headers as Record<string, string>)).not.toThrow();
    }
    const byAlert = (id: string) => again.find(({ body }) => body.includes(id))!;
    expect(byAlert(unheard)).toBeDefined();
    expect(byAlert(heard).headers['webhook-id']).toBe(received[0]!.headers['webhook-id']);
    expect(byAlert(heard).body).toBe(received[0]!.body);
    expect(received).toHaveLength(4);
    expect(received[0]!.headers['castellan-replay']).toBeUndefined();
  });

  it.each([
    ['from', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }],
    ['from', {}],
    ['from', { from: '2199-01-01T00:00:00Z' }],
    ['types.0', { from: '2026-01-02T00:00:00Z', types: ['test'] }],
  ])('refuses a replay with a wrong %s', async (field, body) => {
    const tenant = await app.newTenant();
    const { status, body: refusal } = await tenant.admin.post(`${NOTIFICATIONS}/webhooks/replay`, body);
    expect([status, refusal.fields[0].field]).toEqual([400, field]);
  });

  it('refuses a replay to a webhook that is off, which no field of the request is at fault for', async () => {
    const { admin } = await app.newTenant();
    const { status, body } = await admin.post(`${NOTIFICATIONS}/webhooks/replay`, { from: '2026-01-02T00:00:00Z' });
    expect([status, body.code, body.error, body.fields]).toEqual([
      400,
      'channel_not_configured',
      'not configured: webhookEnabled, webhookSecret',
      [],
    ]);
  });

  it('counts attempts and what is still to be sent', async () => {
    const response = await app.anonymous.get('/metrics');
    for (const name of [
      'castellan_delivery_attempts_total{channel="webhook",outcome="accepted"}',
      'castellan_deliveries_pending{channel="email"}',
      'castellan_deliveries_exhausted{channel="webhook"}',
      'castellan_delivery_oldest_due_seconds',
    ])
      expect(response.text).toContain(name);
  });
});

describe.runIf(findRedis())('Redis that loses its data while deliveries wait', () => {
  it('loses no delivery: the sweep makes its job again', async () => {
    const redis = await startRedis();
    const app = await startApp({ devMode: true, redisUrl: redis.url, drainMs: 2_000 });
    const { url, received, close } = await startWebhookReceiver();
    const tenant = await app.newTenant();
    const { tenantId } = tenant;
    await withWebhook(tenant, url);
    const deliveryId = randomUUID();
    const execution = { tenantId, actor: system('test') };
    orThrow(await app.services.executor.execute(abandonDelivery, { deliveryId, isStarted: false }, execution));
    const { database, executor, jobs } = app.services;
    await jobs.enqueue(deliveryWaking, { tenantId, deliveryId, channel: 'webhook' }, { delayMs: 3_600_000 });
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
    await app.settled();
    const context = { id: randomUUID(), attempt: 1, isLastAttempt: true, tenantId: undefined, correlationId: 'test' };
    const { signal } = new AbortController();
    await sweepDeliveries({ projector: database.projector, executor, jobs: () => jobs }).handle(
      {},
      { ...context, signal },
    );
    expect((await eventually(() => received[0])).headers['webhook-id']).toBe(deliveryId);
    await deliveryWhere(tenant, ({ state }) => state === 'delivered');
    expect(received).toHaveLength(1);
    await app.close();
    await redis.stop();
    await close();
  });
});

describe('a webhook whose name leads to a private address', () => {
  it('is not called', async () => {
    const app = await startApp();
    const { url, received, close } = await startWebhookReceiver();
    const tenant = await app.newTenant();
    await tenant.admin.put(`${NOTIFICATIONS}/webhook-secret`, { secret: webhookSecret() });
    const { port } = new URL(url);
    const webhookUrl = `https://localhost:${port}/`;
    expect((await tenant.admin.put(`${NOTIFICATIONS}/settings`, { webhookUrl })).status).toBe(400);
    orThrow(
      await app.services.executor.execute(
        moveWebhook,
        { webhookUrl },
        { tenantId: tenant.tenantId, actor: system('test') },
      ),
    );
    await app.settled();
    const { body } = await tenant.admin.post(`${NOTIFICATIONS}/test-webhook`, {});
    expect(body).toMatchObject({ success: false, message: 'the address is not public' });
    expect(received).toEqual([]);
    await app.close();
    await close();
  });
});
