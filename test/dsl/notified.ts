import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { raiseAlert, type RaiseAlert } from '../../commands/alerts/raise-alert.ts';
import { alertTypes } from '../../src/contexts/alerts/domain/vocabulary.ts';
import { sweepDeliveries } from '../../src/contexts/notifications/sweep-deliveries.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import type { TestApp, TestTenant } from './app.ts';

export const NOTIFICATIONS = '/api/v1/admin/alert-notifications';
export const DELIVERIES = `${NOTIFICATIONS}/deliveries`;

export const webhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** All but the alerts that the set-up of notifications itself raises. */
export const OTHER_ALERTS = alertTypes.filter((type) => type !== 'policy_violation');

/** A tenant whose alerts, except `policy_violation`, go to this webhook. */
export async function withWebhook(tenant: TestTenant, webhookUrl: string, secret = webhookSecret()): Promise<string> {
  const put = async (path: string, body: object) => {
    const response = await tenant.admin.put(`${NOTIFICATIONS}/${path}`, body);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  };
  await put('webhook-secret', { secret });
  await put('settings', { webhookEnabled: true, webhookUrl, alertTypes: OTHER_ALERTS });
  return secret;
}

export async function newAlert(
  { services }: TestApp,
  { tenantId }: TestTenant,
  over: Partial<RaiseAlert> = {},
): Promise<string> {
  const alertId = randomUUID();
  const input: RaiseAlert = {
    alertId,
    alertType: 'phishing_detected',
    severity: 'high',
    title: 'A phishing page was blocked',
    description: 'Nothing was typed.',
    fingerprint: alertId,
    userId: null,
    deviceId: null,
    domain: 'phish.example',
    url: null,
    cause: randomUUID(),
    metadata: {},
    ...over,
  };
  orThrow(await services.executor.execute(raiseAlert, input, { tenantId, actor: system('test') }));
  await nextMillisecond();
  return alertId;
}

/** What is created afterwards is newer: lists sort what has the same time by id. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await sleep(1);
}

/** What the schedule does every 20 seconds: makes lost jobs again, and ends windows that are over. */
export async function sweepOutbox(app: TestApp): Promise<void> {
  const { database, executor, jobs } = app.services;
  await app.settled();
  const context = { id: randomUUID(), attempt: 1, isLastAttempt: true, tenantId: undefined, correlationId: 'test' };
  const { signal } = new AbortController();
  const job = sweepDeliveries({ projector: database.projector, executor, jobs: () => jobs });
  await job.handle({}, { ...context, signal });
}

/** Waits until `found` returns something, at most for twenty seconds. */
export async function eventually<T>(found: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const until = Date.now() + 20_000;
  for (;;) {
    const value = await found();
    if (value !== undefined) return value;
    if (Date.now() > until) throw new Error('it did not happen within twenty seconds');
    await sleep(25);
  }
}

/** The delivery of the tenant for which `wanted` holds. */
export const deliveryWhere = (
  tenant: TestTenant,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  wanted: (delivery: any) => boolean,
  filter = '',
) =>
  eventually(async () => {
    const { body } = await tenant.admin.get(`${DELIVERIES}?page_size=100${filter}`);
    return (body.deliveries as unknown[]).find((each) => wanted(each)) as
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      any;
  });
