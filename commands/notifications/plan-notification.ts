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
  /** Counts the batches of recipients from 0 (`inBatches`). */
  readonly batch?: number;
}

/** Decides who gets a message. Each recipient then gets a delivery, within the limit of the channel. */
export const planNotification = defineCommand({
  name: 'PlanNotification',
  aggregate: plannedNotification,
  stream: ({ channel, cause, batch }: PlanNotification, { tenantId }) =>
    notificationStream(tenantId, cause, channel, batch),
  decide({ isPlanned }, { channel, cause, subject, recipients, batch }, { tenantId }) {
    if (isPlanned || recipients.length === 0) return accept([]);
    const notificationId = notificationIdOf(tenantId, cause, channel, batch);
    return accept([
      { type: 'NotificationPlanned', data: { notificationId, channel, cause, subject, recipients: [...recipients] } },
    ]);
  },
});
