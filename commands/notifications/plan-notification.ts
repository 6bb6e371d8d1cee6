import { notificationEvents } from '../../src/contexts/notifications/domain/events.ts';
import { notificationIdOf } from '../../src/contexts/notifications/domain/delivery-ids.ts';
import type { ChannelName, Recipient, MessageSubject } from '../../src/contexts/notifications/domain/message.ts';
import { defineAggregate, streamName } from '../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface PlanNotification {
  readonly channel: ChannelName;
  /** The event, page or condition that the message is about: one notification for each cause and channel. */
  readonly cause: string;
  readonly subject: MessageSubject;
  readonly recipients: readonly Recipient[];
}

const planned = defineAggregate<{ readonly isPlanned: boolean }, typeof notificationEvents>(
  notificationEvents,
  { isPlanned: false },
  () => ({ isPlanned: true }),
);

/** Decides who gets a message. Each recipient then gets a delivery, within the limit of the channel. */
export const planNotification = defineCommand({
  name: 'PlanNotification',
  aggregate: planned,
  stream: ({ channel, cause }: PlanNotification, { tenantId }) =>
    streamName('notification', tenantId, notificationIdOf(tenantId, cause, channel)),
  decide({ isPlanned }, { channel, cause, subject, recipients }, { tenantId }) {
    if (isPlanned || recipients.length === 0) return accept([]);
    const notificationId = notificationIdOf(tenantId, cause, channel);
    return accept([
      { type: 'NotificationPlanned', data: { notificationId, channel, cause, subject, recipients: [...recipients] } },
    ]);
  },
});
