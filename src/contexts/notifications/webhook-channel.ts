import { disableWebhook } from '../../../commands/notifications/disable-webhook.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { system } from '../../platform/kernel/actor.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { certificateProblem } from '../../platform/outbound/certificate-problem.ts';
import type { DestinationChoice } from '../../platform/outbound/destinations.ts';
import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import type { Vault } from '../../platform/vault/vault.ts';
import type { AttemptOutcome, Channel, OutboundMessage } from './channel.ts';
import {
  notificationSettings,
  notificationSettingsStream,
  webhookSecretLocation,
  type NotificationSettings,
} from './domain/settings.ts';
import { webhookHeaders } from './domain/webhook-secret.ts';
import { webhookBody } from './webhook-body.ts';

export interface WebhookPorts {
  readonly aggregates: AggregateReader;
  readonly vault: Pick<Vault, 'get'>;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  /** The way out to a webhook, with a limit of ten seconds (OP-184) and a bounded response. */
  readonly fetch: (choice: DestinationChoice) => GuardedFetch;
}

const GONE = 410;
/** Too many requests, and unavailable: their `Retry-After` counts. */
const ASK_TO_WAIT = new Set([429, 503]);

/** Sends messages as Standard Webhooks 1.0.0 says. No order is promised; receivers recognize repetitions by `webhook-id`. */
export class WebhookChannel implements Channel {
  readonly name = 'webhook';
  readonly #ports: WebhookPorts;

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<AttemptOutcome> {
    const { tenantId, messageId, subject, replayId } = message;
    const settings = await this.#ports.aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
    const { webhookUrl, webhookEnabled, webhookAllowPrivateNetwork, webhookCaCertificate } = settings.values;
    if (!webhookEnabled && subject.kind !== 'test') return { kind: 'refused', reason: 'the webhook is off' };
    const secrets = await this.#secrets(tenantId, settings);
    if (webhookUrl === null || secrets.length === 0)
      return { kind: 'refused', reason: 'the webhook has no address or no secret' };
    const body = webhookBody(message);
    if (body === undefined) return { kind: 'refused', reason: 'webhooks do not carry this kind of message' };
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Castellan-Webhooks',
      ...webhookHeaders(secrets, { messageId, now: Date.now(), body }),
      ...(replayId === null ? {} : { 'castellan-replay': replayId }),
    };
    const fetch = this.#ports.fetch({
      allowPrivateNetwork: webhookAllowPrivateNetwork,
      caCertificate: webhookCaCertificate,
    });
    try {
      const response = await fetch(webhookUrl, { method: 'POST', headers, body, signal });
      if (response.status === GONE && subject.kind !== 'test') await this.#disable(tenantId, webhookUrl);
      return outcomeOf(response);
    } catch (error) {
      return { kind: 'deferred', reason: reasonOf(error) };
    }
  }

  /** The present secret, and the former one during a rotation. */
  async #secrets(tenantId: TenantId, settings: NotificationSettings): Promise<readonly string[]> {
    const { webhookSecretRef, formerSecretRef, formerSecretUntil } = settings;
    const isFormerLive = formerSecretUntil !== null && Date.parse(formerSecretUntil) > Date.now();
    const references = [webhookSecretRef, isFormerLive ? formerSecretRef : null].filter((one) => one !== null);
    const found = await Promise.all(
      references.map((reference) => this.#ports.vault.get(tenantId, webhookSecretLocation, reference)),
    );
    return found.filter((secret) => secret !== undefined).map((secret) => secret.toString());
  }

  async #disable(tenantId: TenantId, webhookUrl: string): Promise<void> {
    await this.#ports.executor.execute(disableWebhook, { webhookUrl }, { tenantId, actor: system('outbox') });
  }
}

function outcomeOf({ status, headers }: Response): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted', response: `status ${status}` };
  if (status === GONE) return { kind: 'refused', reason: 'status 410: the receiver is gone' };
  if (status >= 300 && status < 400)
    return { kind: 'deferred', reason: `status ${status}: redirects are not followed` };
  const retryAfterMs = ASK_TO_WAIT.has(status) ? waitOf(headers.get('retry-after')) : undefined;
  return { kind: 'deferred', reason: `status ${status}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function waitOf(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

const NAMED: Readonly<Record<string, string>> = {
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the response was too long',
  TimeoutError: 'no response within ten seconds',
  UND_ERR_HEADERS_TIMEOUT: 'no response within ten seconds',
  UND_ERR_BODY_TIMEOUT: 'no response within ten seconds',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within ten seconds',
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the name does not resolve',
};

function reasonOf(error: unknown): string {
  if (error instanceof OutboundRefused) return error.message;
  const problem = certificateProblem(error);
  if (problem !== undefined) return `the certificate was not accepted (${problem})`;
  const { name, code } = error as { name?: string; code?: unknown };
  return NAMED[String(code)] ?? NAMED[String(name)] ?? 'the address cannot be reached';
}
