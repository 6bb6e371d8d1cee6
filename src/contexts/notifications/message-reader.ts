import { LRUCache } from 'lru-cache';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { alertAfter, type AlertHistory } from './alert-document.ts';
import type { Channel, OutboundMessage } from './channel.ts';
import type { NotifiedEvent } from './domain/alert-change.ts';
import type { ChannelName, MessageSubject } from './domain/message.ts';

/** What an attempt needs besides the planned message. */
export interface PreparedMessage {
  /** Undefined unless the message is about an event. */
  readonly content: OutboundMessage['alert'] | 'gone';
  /** Undefined if this process has no such channel. */
  readonly ready: Pick<Channel, 'send'> | undefined;
}

const MAX_EARLY = 100;
/** An append takes milliseconds. What was read long ago is read again. */
const EARLY_MS = 2_000;

/** Reads the content of a message and the configuration of its channel, at the same time. */
export class MessageReader {
  readonly #history: AlertHistory;
  readonly #channels: ReadonlyMap<string, Channel>;
  /** What was read for messages whose plans are being appended. */
  readonly #early = new LRUCache<string, Promise<PreparedMessage>>({ max: MAX_EARLY, ttl: EARLY_MS });

  constructor(history: AlertHistory, channels: readonly Channel[]) {
    this.#history = history;
    this.#channels = new Map(channels.map((channel) => [channel.name, channel]));
  }

  /** Begins to read for a message that is being planned. */
  begin(tenantId: TenantId, channel: ChannelName, about: NotifiedEvent): void {
    const reading = this.#read(tenantId, channel, about);
    reading.catch(() => undefined); // an error shows when the message is sent
    this.#early.set(`${channel}|${about.eventId}`, reading);
  }

  /** Resolves with what was read while the plan was appended, otherwise with what reads now. */
  read(tenantId: TenantId, channel: ChannelName, subject: MessageSubject): Promise<PreparedMessage> {
    const about = eventOf(subject);
    const key = `${channel}|${about?.eventId}`;
    const early = this.#early.get(key);
    this.#early.delete(key);
    return early ?? this.#read(tenantId, channel, about);
  }

  async #read(tenantId: TenantId, name: ChannelName, about: NotifiedEvent | undefined): Promise<PreparedMessage> {
    const channel = this.#channels.get(name);
    const [content, ready] = await Promise.all([
      about && alertAfter(this.#history, tenantId, about).then((alert) => alert ?? 'gone'),
      channel?.ready?.(tenantId) ?? channel,
    ]);
    return { content, ready };
  }
}

const eventOf = (subject: MessageSubject): NotifiedEvent | undefined => {
  if (!('alertId' in subject) || subject.alertId === null || subject.eventId === null) return undefined;
  return { alertId: subject.alertId, eventId: subject.eventId };
};
