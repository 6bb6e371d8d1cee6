import { delivery, deliveryStream } from '../../src/contexts/notifications/domain/delivery.ts';
import type { ChannelName, Recipient, MessageSubject } from '../../src/contexts/notifications/domain/message.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface PlanDelivery {
  /** Derived from cause and recipient (`deliveryIdOf`), so that a delivery is planned once. */
  readonly deliveryId: string;
  readonly channel: ChannelName;
  readonly recipient: Recipient;
  readonly subject: MessageSubject;
  /** Of the original, in a replay. */
  readonly messageId?: string;
  readonly replayId?: string;
  /** The limit held it back until this moment. */
  readonly digestDueAt?: string;
}

/** Plans one message to one recipient. The outbox then sends it. */
export const planDelivery = defineCommand({
  name: 'PlanDelivery',
  aggregate: delivery,
  stream: ({ deliveryId }: PlanDelivery, { tenantId }) => deliveryStream(tenantId, deliveryId),
  decide(state, { deliveryId, channel, recipient, subject, messageId, replayId, digestDueAt }, { now }) {
    if (state.status !== 'none') return accept([]);
    return accept([
      {
        type: 'DeliveryPlanned',
        data: {
          deliveryId,
          channel,
          recipient,
          subject,
          messageId: messageId ?? deliveryId,
          replayId: replayId ?? null,
          digestDueAt: digestDueAt ?? null,
          plannedAt: new Date(now).toISOString(),
        },
      },
    ]);
  },
});
