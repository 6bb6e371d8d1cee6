import type { AlertChange } from '../../src/contexts/notifications/domain/alert-change.ts';
import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { attemptStarted, delivery, deliveryStream } from '../../src/contexts/notifications/domain/delivery.ts';
import { deliveryIdOf } from '../../src/contexts/notifications/domain/delivery-ids.ts';
import { notifiedAlert, type NotifiedAlert } from '../../src/contexts/notifications/domain/notified-alert.ts';
import { isWanted, isWebhookReady } from '../../src/contexts/notifications/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { AggregateReader } from '../../src/platform/kernel/aggregate.ts';
import type { TenantId } from '../../src/platform/kernel/ids.ts';
import type { WithAggregates, WithOutbox } from '../ports.ts';

const RECIPIENT = { kind: 'webhook' } as const;

/**
 * Plans the webhook message about an event of an alert, if the tenant wants it now. Webhooks have no limit. If this
 * process has room to send, the first attempt begins with the plan: one append instead of two.
 */
export const planAlertWebhook = defineCommand({
  name: 'AlertChange',
  aggregate: delivery,
  stream: ({ eventId }: AlertChange, { tenantId }) =>
    deliveryStream(tenantId, deliveryIdOf(tenantId, eventId, RECIPIENT)),
  begins: true,
  prepare: async (change: AlertChange, { aggregates, outbox }: WithAggregates & WithOutbox, { tenantId }) => {
    const settings = await outbox.settings(tenantId);
    const about = isWebhookReady(settings) ? await alertOf(change, aggregates, tenantId) : undefined;
    const isUnwanted = !about || !isWanted(settings.values, about.alertType, about.severity);
    if (isUnwanted) return { severity: undefined, beginsNow: false };
    return { severity: about.severity, beginsNow: outbox.mayBegin(tenantId, 'webhook', change) };
  },
  isNeedless: ({ severity }) => severity === undefined,
  decide(state, { alertId, eventId, change, occurredAt }, { now, tenantId }, { severity, beginsNow }) {
    if (state.status !== 'none' || severity === undefined) return accept([]);
    const deliveryId = deliveryIdOf(tenantId, eventId, RECIPIENT);
    return accept([
      {
        type: 'DeliveryPlanned',
        data: {
          deliveryId,
          channel: 'webhook',
          recipient: RECIPIENT,
          subject: { kind: 'alert', alertId, eventId, change, severity, occurredAt },
          messageId: deliveryId,
          replayId: null,
          digestDueAt: null,
          plannedAt: new Date(now).toISOString(),
        },
      },
      ...(beginsNow ? [attemptStarted(deliveryId, 1, now)] : []),
    ]);
  },
});

/** What the event says, as far as it does; otherwise the present state. Undefined if there is no such alert. */
async function alertOf(
  { alertId, severity, alertType }: AlertChange,
  aggregates: AggregateReader,
  tenantId: TenantId,
): Promise<NotifiedAlert | undefined> {
  if (severity !== undefined && alertType !== undefined) return { severity, alertType };
  const known = await aggregates.load(notifiedAlert, alertStream(tenantId, alertId));
  return known && { ...known, severity: severity ?? known.severity };
}
