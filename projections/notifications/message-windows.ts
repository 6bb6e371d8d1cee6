import { messageLimitEvents } from '../../src/contexts/notifications/domain/events.ts';
import type { ChannelName, Recipient } from '../../src/contexts/notifications/domain/message.ts';
import { defineReadModel, id, json, text, timestamp, type Column } from '../../src/platform/kernel/read-model.ts';

/** Recipients who get a digest when their hour is over. */
export const messageWindows = defineReadModel({
  name: 'message_windows',
  version: 1,
  lane: 'main',
  columns: {
    recipient_id: id,
    channel: text as Column<ChannelName>,
    recipient: json<Recipient>(),
    digest_due_at: timestamp,
  },
  key: ['recipient_id'],
  indexes: [['digest_due_at']],
  families: [messageLimitEvents],
  on: {
    MessageHeldBack: ({ data: { recipientId, channel, recipient, windowEndsAt } }) => ({
      key: { recipient_id: recipientId },
      fold: () => ({ recipient_id: recipientId, channel, recipient, digest_due_at: windowEndsAt }),
    }),
    DigestDue: ({ data: { recipientId } }) => ({ key: { recipient_id: recipientId }, fold: () => undefined }),
  },
});
