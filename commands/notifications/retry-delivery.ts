import { delivery, deliveryStream } from '../../src/contexts/notifications/domain/delivery.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';

/** Sends a delivery again that was exhausted or refused: another round of attempts, beginning now. */
export const retryDelivery = defineCommand({
  name: 'RetryDelivery',
  aggregate: delivery,
  stream: ({ deliveryId }: { readonly deliveryId: string }, { tenantId }) => deliveryStream(tenantId, deliveryId),
  decide({ status, message }, { deliveryId }, { now }) {
    if (status === 'none' || !message) return notFound();
    if (status !== 'exhausted' && status !== 'refused') return conflict('delivery_not_failed');
    return accept([
      {
        type: 'DeliveryRetryRequested',
        data: { deliveryId, channel: message.channel, requestedAt: new Date(now).toISOString() },
      },
    ]);
  },
  freshens: ['deliveries'],
});
