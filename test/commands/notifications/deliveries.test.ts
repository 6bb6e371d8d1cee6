import { randomUUID } from 'node:crypto';
import { describe, it } from 'vitest';
import { endDeliveryAttempt } from '../../../commands/notifications/end-delivery-attempt.ts';
import { planAlertWebhook } from '../../../commands/notifications/plan-alert-webhook.ts';
import { planDelivery } from '../../../commands/notifications/plan-delivery.ts';
import { retryDelivery } from '../../../commands/notifications/retry-delivery.ts';
import { startDeliveryAttempt } from '../../../commands/notifications/start-delivery-attempt.ts';
import { deliveryIdOf } from '../../../src/contexts/notifications/domain/delivery-ids.ts';
import { deliveryEvents } from '../../../src/contexts/notifications/domain/events.ts';
import { nextAttemptAt } from '../../../src/contexts/notifications/domain/retry-schedule.ts';
import { historiesOf, NOW, TENANT } from '../../dsl/given.ts';

const { given } = historiesOf([deliveryEvents]);
const SECOND = 1_000;
const iso = (moment: number) => new Date(moment).toISOString();
const eventId = randomUUID();
const alertId = randomUUID();
const deliveryId = deliveryIdOf(TENANT, eventId, { kind: 'webhook' });
const subject = {
  kind: 'alert' as const,
  alertId,
  eventId,
  change: 'created' as const,
  severity: 'high' as const,
  occurredAt: iso(NOW),
};
const message = { deliveryId, channel: 'webhook' as const, recipient: { kind: 'webhook' as const }, subject };
const plannedAt = (moment: number) => ({
  type: 'DeliveryPlanned' as const,
  data: { ...message, messageId: deliveryId, replayId: null, digestDueAt: null, plannedAt: iso(moment) },
});
const planned = plannedAt(NOW);
const started = (attempt: number, at = NOW) => ({
  type: 'DeliveryAttemptStarted' as const,
  data: { deliveryId, attempt, startedAt: iso(at), heldUntil: iso(at + 60 * SECOND) },
});
const ended = (attempt: number, outcome: 'accepted' | 'deferred' | 'refused', next: number | null = null) => ({
  type: 'DeliveryAttemptEnded' as const,
  data: {
    deliveryId,
    attempt,
    outcome,
    response: 'status 500',
    durationMs: 7,
    endedAt: iso(NOW),
    nextAttemptAt: next === null ? null : iso(next),
  },
});
const result = (outcome: 'accepted' | 'deferred' | 'refused', attempt = 1) => ({
  deliveryId,
  attempt,
  outcome,
  response: 'status 500',
  durationMs: 7,
});

describe('a delivery', () => {
  it('is planned once for a cause and recipient', () => {
    given().when(planDelivery, message).then(planned);
    given(planned).when(planDelivery, message).thenNothing();
    const about = { alertId, eventId, change: 'created' as const, occurredAt: iso(NOW) };
    given().when(planAlertWebhook, about, { severity: 'high', beginsNow: false }).then(planned);
    given(planned).when(planAlertWebhook, about, { severity: 'high', beginsNow: false }).thenNothing();
  });

  it('begins its first attempt with the plan where there is room to send', () => {
    const about = { alertId, eventId, change: 'created' as const, occurredAt: iso(NOW) };
    const wanted = { severity: 'high' as const, beginsNow: true };
    given().when(planAlertWebhook, about, wanted).then(planned, started(1));
    given(planned, started(1)).when(planAlertWebhook, about, wanted).thenNothing();
    given(planned, started(1)).when(startDeliveryAttempt, { deliveryId }).thenNothing();
  });

  it('is not planned for an alert that the settings exclude', () => {
    const about = { alertId, eventId, change: 'created' as const, occurredAt: iso(NOW) };
    given().when(planAlertWebhook, about, { severity: undefined, beginsNow: false }).thenNothing();
  });

  it('is attempted when it is due, by one process at a time', () => {
    given(planned).when(startDeliveryAttempt, { deliveryId }).then(started(1));
    given(plannedAt(NOW + SECOND))
      .when(startDeliveryAttempt, { deliveryId })
      .thenNothing();
    given(planned, started(1, NOW - 59 * SECOND))
      .when(startDeliveryAttempt, { deliveryId })
      .thenNothing();
    given().when(startDeliveryAttempt, { deliveryId }).thenRefused('notFound');
  });

  it('is attempted again after a process that ended without a result', () => {
    given(planned, started(1, NOW - 60 * SECOND))
      .when(startDeliveryAttempt, { deliveryId })
      .then(started(2));
  });

  it('ignores the result of an attempt that another one replaced', () => {
    given(planned, started(1), started(2)).when(endDeliveryAttempt, result('accepted', 1)).thenNothing();
    given(planned, started(1), ended(1, 'accepted')).when(endDeliveryAttempt, result('deferred', 1)).thenNothing();
  });

  it('is delivered, refused, or tried again', () => {
    given(planned, started(1)).when(endDeliveryAttempt, result('accepted')).then(ended(1, 'accepted'));
    given(planned, started(1)).when(endDeliveryAttempt, result('refused')).then(ended(1, 'refused'));
    given(planned, started(1))
      .when(endDeliveryAttempt, result('deferred'))
      .then(ended(1, 'deferred', nextAttemptAt({ deliveryId, attempt: 1, since: NOW, now: NOW })));
    for (const outcome of ['accepted', 'refused'] as const)
      given(planned, started(1), ended(1, outcome)).when(startDeliveryAttempt, { deliveryId }).thenNothing();
  });

  it('is exhausted after three days, and gets another round on request', () => {
    const old = [plannedAt(NOW - 72 * 3_600_000), started(1)] as const;
    given(...old)
      .when(endDeliveryAttempt, result('deferred'))
      .then(ended(1, 'deferred'));
    const requested = {
      type: 'DeliveryRetryRequested' as const,
      data: { deliveryId, channel: 'webhook' as const, requestedAt: iso(NOW) },
    };
    const exhausted = [...old, ended(1, 'deferred')] as const;
    given(...exhausted)
      .when(retryDelivery, { deliveryId })
      .then(requested);
    given(...exhausted, requested)
      .when(startDeliveryAttempt, { deliveryId })
      .then(started(2));
    // The schedule begins anew.
    given(...exhausted, requested, started(2))
      .when(endDeliveryAttempt, result('deferred', 2))
      .then(ended(2, 'deferred', nextAttemptAt({ deliveryId, attempt: 1, since: NOW, now: NOW })));
  });

  it('is not retried unless it has failed', () => {
    given(planned).when(retryDelivery, { deliveryId }).thenRefused('conflict');
    given(planned, started(1), ended(1, 'accepted')).when(retryDelivery, { deliveryId }).thenRefused('conflict');
    given().when(retryDelivery, { deliveryId }).thenRefused('notFound');
  });
});
