import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { messageLimitEvents } from './events.ts';
import { MAX_DIGEST_ALERTS, type ChannelName, type HeldCounts, type MessageSubject } from './message.ts';

/** Messages about alerts that one recipient of e-mail or push gets in an hour. The rest is one digest. */
export const MESSAGES_PER_HOUR = 20;
export const MESSAGE_WINDOW_MS = 3_600_000;
/** Enough for the ids of a digest and for effects that run twice. */
export const LIMIT_TAIL = 400;

export const NOTHING_HELD: HeldCounts = { critical: 0, high: 0, medium: 0, low: 0 };

/** Webhooks get everything. Critical alerts, pages, notices, digests and tests are never held back. */
export const isLimited = (channel: ChannelName, subject: MessageSubject): boolean =>
  channel !== 'webhook' && subject.kind === 'alert' && subject.severity !== 'critical';

export interface MessageWindow {
  /** Epoch milliseconds. */
  readonly endsAt: number;
  readonly sent: number;
  readonly held: HeldCounts;
  /** The latest alerts that were held back, oldest first. */
  readonly alertIds: readonly string[];
}

export interface MessageLimitState {
  readonly window: MessageWindow | undefined;
  /** Causes of the latest messages. */
  readonly causes: readonly string[];
}

export const messageLimit = defineAggregate<MessageLimitState, typeof messageLimitEvents>(
  messageLimitEvents,
  { window: undefined, causes: [] },
  (state, event) => {
    if (event.type === 'DigestDue') return { ...state, window: undefined };
    const { cause, subject, windowEndsAt, sent } = event.data;
    const endsAt = Date.parse(windowEndsAt);
    const before = state.window?.endsAt === endsAt ? state.window.alertIds : [];
    const isHeld = event.type === 'MessageHeldBack';
    const held = isHeld ? event.data.held : NOTHING_HELD;
    const alertIds =
      isHeld && subject.kind === 'alert' ? lately([...before, subject.alertId], MAX_DIGEST_ALERTS) : before;
    return { window: { endsAt, sent, held, alertIds }, causes: lately([...state.causes, cause], LIMIT_TAIL) };
  },
);

/** Without repetitions. The latest occurrence counts. */
const lately = (ids: readonly string[], most: number): readonly string[] =>
  ids.filter((id, index) => ids.lastIndexOf(id) === index).slice(-most);

export const messageLimitStream = (tenantId: TenantId, recipientId: string): string =>
  streamName('messageLimit', tenantId, recipientId);
