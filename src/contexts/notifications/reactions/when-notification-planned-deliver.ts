import { admitMessage } from '../../../../commands/notifications/admit-message.ts';
import { planDelivery } from '../../../../commands/notifications/plan-delivery.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { enqueue } from '../../../platform/kernel/job.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { deliveryIdOf } from '../domain/delivery-ids.ts';
import { deliveryEvents, messageLimitEvents, notificationEvents } from '../domain/events.ts';
import { isLimited } from '../domain/message-limit.ts';
import type { ChannelName, Recipient, MessageSubject } from '../domain/message.ts';
import { deliveryWaking } from '../jobs.ts';

interface Message {
  readonly channel: ChannelName;
  readonly recipient: Recipient;
  readonly cause: string;
  readonly subject: MessageSubject;
}

const plan = (tenantId: TenantId, { channel, recipient, cause, subject }: Message, digestDueAt?: string) => ({
  effects: [
    effect(planDelivery, {
      deliveryId: deliveryIdOf(tenantId, cause, recipient),
      channel,
      recipient,
      subject,
      ...(digestDueAt === undefined ? {} : { digestDueAt }),
    }),
  ],
});

/**
 * The outbox: from a planned notification to the job that sends. Each step is an event, so a crash loses none of them,
 * and a rebuild of read models sends nothing.
 */
export const whenNotificationPlannedDeliver = defineReaction({
  name: 'outbox',
  lane: 'main',
  families: [notificationEvents, messageLimitEvents, deliveryEvents],
  on: {
    NotificationPlanned: ({ tenantId, data: { channel, cause, subject, recipients } }) =>
      recipients.map((recipient) =>
        isLimited(channel, subject)
          ? { effects: [effect(admitMessage, { channel, recipient, cause, subject })] }
          : plan(tenantId, { channel, recipient, cause, subject }),
      ),
    MessageAdmitted: ({ tenantId, data }) => [plan(tenantId, data)],
    MessageHeldBack: ({ tenantId, data }) => [plan(tenantId, data, data.windowEndsAt)],
    DigestDue: ({ tenantId, data }) => [plan(tenantId, data)],
    // The route that sends a test waits for its result.
    DeliveryPlanned: ({ tenantId, data: { deliveryId, channel, subject, digestDueAt } }) =>
      digestDueAt === null && subject.kind !== 'test'
        ? [{ effects: [enqueue(deliveryWaking, { tenantId, deliveryId, channel })] }]
        : [],
    DeliveryRetryRequested: ({ tenantId, data: { deliveryId, channel } }) => [
      { effects: [enqueue(deliveryWaking, { tenantId, deliveryId, channel })] },
    ],
  },
});
