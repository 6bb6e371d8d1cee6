import { recipientIdOf } from '../../src/contexts/notifications/domain/delivery-ids.ts';
import type { ChannelName, Recipient, MessageSubject } from '../../src/contexts/notifications/domain/message.ts';
import {
  LIMIT_TAIL,
  messageLimit,
  messageLimitStream,
  MESSAGES_PER_HOUR,
  NOTHING_HELD,
  MESSAGE_WINDOW_MS,
  type MessageLimitState,
  type MessageWindow,
} from '../../src/contexts/notifications/domain/message-limit.ts';
import { digestOf } from '../../src/contexts/notifications/domain/digest.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

export interface AdmitMessage {
  readonly channel: ChannelName;
  readonly recipient: Recipient;
  readonly cause: string;
  readonly subject: MessageSubject;
}

const hasHeld = ({ held }: MessageWindow): boolean => Object.values(held).some((count) => count > 0);

/** The open window; a new one if there is none or it is over. */
const windowAt = ({ window }: MessageLimitState, now: number): MessageWindow =>
  window && window.endsAt > now
    ? window
    : { endsAt: now + MESSAGE_WINDOW_MS, sent: 0, held: NOTHING_HELD, alertIds: [] };

/**
 * Counts a message against the hourly limit of its recipient: it is sent, or becomes part of the digest at the end of
 * the window.
 */
export const admitMessage = defineCommand({
  name: 'AdmitMessage',
  aggregate: messageLimit,
  stream: ({ recipient }: AdmitMessage, { tenantId }) =>
    messageLimitStream(tenantId, recipientIdOf(tenantId, recipient)),
  tail: LIMIT_TAIL,
  decide(state, { channel, recipient, cause, subject }, { now, tenantId }) {
    if (state.causes.includes(cause)) return accept([]);
    const recipientId = recipientIdOf(tenantId, recipient);
    const about = { recipientId, recipient, channel };
    const isOver = state.window !== undefined && state.window.endsAt <= now && hasHeld(state.window);
    const digest = isOver
      ? [{ type: 'DigestDue' as const, data: { ...about, ...digestOf(state.window!, recipientId) } }]
      : [];
    const window = windowAt(state, now);
    const windowEndsAt = new Date(window.endsAt).toISOString();
    const message = { ...about, cause, subject, windowEndsAt };
    if (window.sent < MESSAGES_PER_HOUR)
      return accept([...digest, { type: 'MessageAdmitted', data: { ...message, sent: window.sent + 1 } }]);
    const severity = subject.kind === 'alert' ? subject.severity : 'low';
    const held = { ...window.held, [severity]: window.held[severity] + 1 };
    return accept([...digest, { type: 'MessageHeldBack', data: { ...message, sent: window.sent, held } }]);
  },
});

/** Ends a window that is over, with a digest of what it held back. */
export const endMessageWindow = defineCommand({
  name: 'EndMessageWindow',
  aggregate: messageLimit,
  stream: ({ recipient }: Pick<AdmitMessage, 'channel' | 'recipient'>, { tenantId }) =>
    messageLimitStream(tenantId, recipientIdOf(tenantId, recipient)),
  tail: LIMIT_TAIL,
  decide({ window }, { channel, recipient }, { now, tenantId }) {
    if (!window || window.endsAt > now || !hasHeld(window)) return accept([]);
    const recipientId = recipientIdOf(tenantId, recipient);
    return accept([{ type: 'DigestDue', data: { recipientId, recipient, channel, ...digestOf(window, recipientId) } }]);
  },
});
