import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AlertDocument } from './alert-document.ts';
import type { ChannelName, Recipient, MessageSubject } from './domain/message.ts';

/** One attempt at one delivery. */
export interface OutboundMessage {
  readonly tenantId: TenantId;
  readonly deliveryId: string;
  /** The same in all attempts and replays: `webhook-id`, `Message-ID`. */
  readonly messageId: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly recipient: Recipient;
  readonly subject: MessageSubject;
  /** The alert as it was after the event that the message is about; undefined unless the subject names an event. */
  readonly alert: AlertDocument | undefined;
  /** The replay that sends history again; null in ordinary messages. */
  readonly replayId: string | null;
}

/** What became of one attempt. Texts are fixed words of ours plus status codes, never the other side's text. */
export type AttemptOutcome =
  | { readonly kind: 'accepted'; readonly response: string }
  /** Try again later, but not before the time that the receiver asked for. */
  | { readonly kind: 'deferred'; readonly reason: string; readonly retryAfterMs?: number }
  /** Another attempt would not help. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * A way out. `send` decides what became of the attempt; an error that it throws counts as deferred, in fixed words. It
 * reads the tenant's settings itself, and refuses if its channel is off or not configured.
 */
export interface Channel {
  readonly name: ChannelName;
  /** Loads what every message of the tenant needs, while the sender reads the message. */
  ready?(tenantId: TenantId): Promise<Pick<Channel, 'send'>>;
  send(message: OutboundMessage, signal: AbortSignal): Promise<AttemptOutcome>;
}
