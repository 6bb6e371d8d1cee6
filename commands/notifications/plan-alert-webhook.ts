import type { AlertChange } from '../../src/contexts/notifications/domain/alert-change.ts';
import { alertStream } from '../../src/contexts/alerts/domain/alert.ts';
import { delivery, deliveryStream } from '../../src/contexts/notifications/domain/delivery.ts';
import { deliveryIdOf } from '../../src/contexts/notifications/domain/delivery-ids.ts';
import { notifiedAlert } from '../../src/contexts/notifications/domain/notified-alert.ts';
import {
  isWanted,
  isWebhookReady,
  notificationSettings,
  notificationSettingsStream,
} from '../../src/contexts/notifications/domain/settings.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import type { WithAggregates } from '../ports.ts';

const RECIPIENT = { kind: 'webhook' } as const;

/** Plans the webhook message about an event of an alert, if the tenant wants it now. Webhooks have no limit. */
export const planAlertWebhook = defineCommand({
  name: 'AlertChange',
  aggregate: delivery,
  stream: ({ eventId }: AlertChange, { tenantId }) =>
    deliveryStream(tenantId, deliveryIdOf(tenantId, eventId, RECIPIENT)),
  prepare: async ({ alertId, severity }: AlertChange, { aggregates }: WithAggregates, { tenantId }) => {
    const settings = await aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
    if (!isWebhookReady(settings)) return { severity: undefined };
    const known = await aggregates.load(notifiedAlert, alertStream(tenantId, alertId));
    if (!known) return { severity: undefined };
    const now = severity ?? known.severity;
    return { severity: isWanted(settings.values, known.alertType, now) ? now : undefined };
  },
  decide(state, { alertId, eventId, change, occurredAt }, { now, tenantId }, { severity }) {
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
    ]);
  },
});
