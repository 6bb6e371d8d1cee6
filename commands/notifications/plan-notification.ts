import { notificationIdOf } from '../../src/contexts/notifications/domain/delivery-ids.ts';
import type { ChannelName, Recipient, MessageSubject } from '../../src/contexts/notifications/domain/message.ts';
import {
  notificationStream,
  plannedNotification,
} from '../../src/contexts/notifications/domain/planned-notification.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface PlanNotification {
  readonly channel: ChannelName;
  /** The event, page or condition that the message is about: one notification for each cause and channel. */
  readonly cause: string;
  readonly subject: MessageSubject;
  readonly recipients: readonly Recipient[];
}

/** Decides who gets a message. Each recipient then gets a delivery, within the limit of the channel. */
export const planNotification = defineCommand({
  name: 'PlanNotification',
  aggregate: plannedNotification,
  stream: ({ channel, cause }: PlanNotification, { tenantId }) => notificationStream(tenantId, cause, channel),
  decide({ isPlanned }, { channel, cause, subject, recipients }, { tenantId }) {
    if (isPlanned || recipients.length === 0) return accept([]);
    const notificationId = notificationIdOf(tenantId, cause, channel);
    return accept([
      { type: 'NotificationPlanned', data: { notificationId, channel, cause, subject, recipients: [...recipients] } },
    ]);
  },
});
