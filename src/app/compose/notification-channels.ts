import { LRUCache } from 'lru-cache';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Channel } from '../../contexts/notifications/channel.ts';
import { EmailChannel } from '../../contexts/notifications/email/email-channel.ts';
import { PushChannel, type PushPorts } from '../../contexts/notifications/push/push-channel.ts';
import { WebhookChannel, type WebhookPorts } from '../../contexts/notifications/webhook-channel.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import { destinationConnect, destinationFetch, type OutboundSettings } from '../../platform/outbound/destinations.ts';
import type { GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import type { Vault } from '../../platform/vault/vault.ts';

export interface ChannelPorts {
  readonly config: OutboundSettings;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: AggregateReader;
  readonly settings: WebhookPorts['settings'];
  readonly vault: Vault;
  readonly pushServices: PushPorts['services'];
}

/** OP-184. */
const WEBHOOK_TIMEOUT_MS = 10_000;
/** Of a response that nobody reads. */
const WEBHOOK_RESPONSE_BYTES = 64 * 1024;
const MAX_FETCHES = 1_000;

/** The ways out of the installation for messages to people and their systems. */
export const notificationChannels = ({ config, pushServices, ...ports }: ChannelPorts): readonly Channel[] => [
  new WebhookChannel({ ...ports, fetch: webhookFetch(config) }),
  new EmailChannel({ ...ports, connect: (choice) => destinationConnect(config, choice) }),
  new PushChannel({ ...ports, services: pushServices }),
];

/** One fetch for each tenant and choice: no tenant uses the connection of another. */
function webhookFetch(settings: OutboundSettings): WebhookPorts['fetch'] {
  const limits = { maxBytes: WEBHOOK_RESPONSE_BYTES, timeoutMs: WEBHOOK_TIMEOUT_MS, keepsConnections: true };
  const fetches = new LRUCache<string, GuardedFetch>({ max: MAX_FETCHES });
  return (tenantId, choice) => {
    const key = JSON.stringify([tenantId, choice]);
    let fetch = fetches.get(key);
    if (!fetch) fetches.set(key, (fetch = destinationFetch(settings, choice, limits)));
    return fetch;
  };
}
