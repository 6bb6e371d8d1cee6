import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { delivery, deliveryStream } from '../../../../src/contexts/notifications/domain/delivery.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { DELIVERIES, deliveryWhere, eventually, newAlert, withWebhook } from '../../../dsl/notified.ts';
import { accept, returning, startWebhookReceiver, type WebhookReceiver } from '../../../fixtures/webhook-receiver.ts';

const HOUR_MS = 3_600_000;

describe('a webhook endpoint that is down for days', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await receiver.close();
  });
  afterAll(() => app.close());

  const begin = async (alerts: number) => {
    tenant = await app.newTenant();
    receiver = await startWebhookReceiver(returning(503));
    await withWebhook(tenant, receiver.url);
    for (let n = 0; n < alerts; n += 1) await newAlert(app, tenant);
    const failed = await eventually(async () => {
      const { body } = await tenant.admin.get(`${DELIVERIES}?page_size=100`);
      const once = body.deliveries.filter(({ attemptCount }: { attemptCount: number }) => attemptCount > 0);
      return once.length === alerts && once.every(({ nextAttemptAt }: { nextAttemptAt: string }) => nextAttemptAt)
        ? (once as { id: string }[])
        : undefined;
    });
    return failed.map(({ id }) => id);
  };
  const stateOf = (id: string) => app.services.loader.load(delivery, deliveryStream(tenant.tenantId, id));
  /**
   * Makes the attempts of deliveries when they are due, as long as `goesOn` says. The sender of the application may be
   * quicker, so the clock is that of all deliveries, and never goes back.
   */
  const makeAttempts = async (ids: readonly string[], goesOn: (dueAt: number) => boolean): Promise<void> => {
    for (;;) {
      const states = await Promise.all(ids.map(async (id) => ({ id, dueAt: (await stateOf(id)).dueAt })));
      const due = states.flatMap(({ id, dueAt }) => (dueAt === undefined || !goesOn(dueAt) ? [] : [{ id, dueAt }]));
      const [next] = due.toSorted((one, other) => one.dueAt - other.dueAt);
      if (!next) return;
      vi.setSystemTime(Math.max(Date.now(), next.dueAt));
      await app.services.deliverySender.attempt(tenant.tenantId, next.id);
    }
  };
  const calls = (id: string) => receiver.received.filter(({ headers }) => headers['webhook-id'] === id).length;

  it('loses nothing: what is exhausted is listed, retried with its id, and arrives', async () => {
    const ids = await begin(3);
    const begun = Date.now();
    vi.useFakeTimers({ toFake: ['Date'] });
    await makeAttempts(ids, () => true);
    expect(Date.now() - begun).toBeGreaterThan(60 * HOUR_MS);
    for (const id of ids) {
      expect(calls(id)).toBeGreaterThan(8);
      expect(await stateOf(id)).toMatchObject({ status: 'exhausted', dueAt: undefined });
    }
    vi.useRealTimers();
    await app.settled();
    const { body: listed } = await tenant.admin.get(`${DELIVERIES}?state=exhausted`);
    expect(listed.deliveries.map(({ id }: { id: string }) => id).sort()).toEqual(ids.sort());

    receiver.behave(accept);
    receiver.received.length = 0;
    for (const id of ids) expect((await tenant.admin.post(`${DELIVERIES}/${id}/retry`)).status).toBe(200);
    for (const id of ids) await deliveryWhere(tenant, (one) => one.id === id && one.state === 'delivered');
    expect(receiver.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(ids.sort());
  });

  it('gets everything by itself if it is back within three days', async () => {
    const [id] = await begin(1);
    const begun = Date.now();
    vi.useFakeTimers({ toFake: ['Date'] });
    await makeAttempts([id!], (dueAt) => dueAt < begun + 70 * HOUR_MS);
    receiver.behave(accept);
    receiver.received.length = 0;
    await makeAttempts([id!], () => true);
    expect(await stateOf(id!)).toMatchObject({ status: 'delivered' });
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
  });
});
