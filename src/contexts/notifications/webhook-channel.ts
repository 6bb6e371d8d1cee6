import { LRUCache } from 'lru-cache';
import { disableWebhook } from '../../../commands/notifications/disable-webhook.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { certificateProblem } from '../../platform/outbound/certificate-problem.ts';
import type { DestinationChoice } from '../../platform/outbound/destinations.ts';
import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import type { Vault } from '../../platform/vault/vault.ts';
import type { AttemptOutcome, Channel, OutboundMessage } from './channel.ts';
import { webhookSecretLocation, type NotificationSettings } from './domain/settings.ts';
import { webhookAddressOf } from './domain/webhook-address.ts';
import type { LiveNotificationSettings } from './live-settings.ts';
import { webhookHeaders } from './domain/webhook-secret.ts';
import { webhookBody } from './webhook-body.ts';

export interface WebhookPorts {
  readonly settings: Pick<LiveNotificationSettings, 'of'>;
  readonly vault: Pick<Vault, 'get'>;
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  /** The tenant's way out to its webhook, with a limit of ten seconds (OP-184) and a bounded response. */
  readonly fetch: (tenantId: TenantId, choice: DestinationChoice) => GuardedFetch;
}

const GONE = 410;
const MAX_TENANTS = 1_000;
/** Too many requests, and unavailable: their `Retry-After` counts. */
const ASK_TO_WAIT = new Set([429, 503]);

/** Sends messages as Standard Webhooks 1.0.0 says. No order is promised; receivers recognize repetitions by `webhook-id`. */
export class WebhookChannel implements Channel {
  readonly name = 'webhook';
  readonly #ports: WebhookPorts;
  /** Names of the secrets that signed a tenant's last message, and of its address. */
  readonly #references = new LRUCache<TenantId, LastReferences>({ max: MAX_TENANTS });

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /** Reads the settings, and beside them the secrets that the last message was signed with. */
  async ready(tenantId: TenantId): Promise<Pick<Channel, 'send'>> {
    const last = this.#references.get(tenantId) ?? { secrets: [], webhookUrlRef: null };
    const [settings, early, lastAddress] = await Promise.all([
      this.#ports.settings.of(tenantId),
      this.#secretsOf(tenantId, last.secrets),
      this.#addressOf(tenantId, { values: { webhookUrl: null }, webhookUrlRef: last.webhookUrlRef }),
    ]);
    const references = liveReferences(settings, Date.now());
    const { webhookUrlRef } = settings;
    this.#references.set(tenantId, { secrets: references, webhookUrlRef });
    const isKnown = webhookUrlRef !== null && webhookUrlRef === last.webhookUrlRef;
    const [late, address] = await Promise.all([
      this.#secretsOf(
        tenantId,
        references.filter((reference) => !early.has(reference)),
      ),
      isKnown ? lastAddress : this.#addressOf(tenantId, settings),
    ]);
    const secrets = references.map((reference) => early.get(reference) ?? late.get(reference));
    const found = secrets.filter((secret) => secret !== undefined);
    return { send: (message, signal) => this.#send(message, settings, { address, secrets: found }, signal) };
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<AttemptOutcome> {
    return (await this.ready(message.tenantId)).send(message, signal);
  }

  async #send(
    message: OutboundMessage,
    settings: NotificationSettings,
    { address, secrets }: { readonly address: string | null; readonly secrets: readonly string[] },
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    const { tenantId, messageId, subject, replayId } = message;
    const { webhookEnabled, webhookAllowPrivateNetwork, webhookCaCertificate } = settings.values;
    if (!webhookEnabled && subject.kind !== 'test') return { kind: 'refused', reason: 'the webhook is off' };
    if (address === null || secrets.length === 0)
      return { kind: 'refused', reason: 'the webhook has no address or no secret' };
    const body = webhookBody(message);
    if (body === undefined) return { kind: 'refused', reason: 'webhooks do not carry this kind of message' };
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Castellan-Webhooks',
      ...webhookHeaders(secrets, { messageId, now: Date.now(), body }),
      ...(replayId === null ? {} : { 'castellan-replay': replayId }),
    };
    const fetch = this.#ports.fetch(tenantId, {
      allowPrivateNetwork: webhookAllowPrivateNetwork,
      caCertificate: webhookCaCertificate,
    });
    try {
      const response = await fetch(address, { method: 'POST', headers, body, signal });
      const isOver = response.status === GONE && subject.kind !== 'test';
      if (isOver && !(await this.#disable(tenantId, settings))) return { kind: 'deferred', reason: UNRECORDED };
      return outcomeOf(response);
    } catch (error) {
      return { kind: 'deferred', reason: reasonOf(error) };
    }
  }

  /** The secrets that there are, by reference. */
  async #secretsOf(tenantId: TenantId, references: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await Promise.all(
      references.map((reference) => this.#ports.vault.get(tenantId, webhookSecretLocation, reference)),
    );
    return new Map(references.flatMap((reference, at) => (found[at] ? [[reference, found[at].toString()]] : [])));
  }

  #addressOf(tenantId: TenantId, settings: Parameters<typeof webhookAddressOf>[0]): Promise<string | null> {
    return webhookAddressOf(settings, this.#ports.vault, tenantId);
  }

  /** Returns false if that could not be recorded. */
  async #disable(
    tenantId: TenantId,
    { values: { webhookUrl }, webhookUrlRef }: Pick<NotificationSettings, 'values' | 'webhookUrlRef'>,
  ): Promise<boolean> {
    const called = { webhookUrl, webhookUrlRef };
    return !isFailure(
      await this.#ports.executor.execute(disableWebhook, called, { tenantId, actor: system('outbox') }),
    );
  }
}

const UNRECORDED = 'status 410: the receiver is gone, which could not be recorded yet';

interface LastReferences {
  readonly secrets: readonly string[];
  readonly webhookUrlRef: string | null;
}

/** The present secret, and the former one during a rotation. */
function liveReferences(
  { webhookSecretRef, formerSecretRef, formerSecretUntil }: NotificationSettings,
  now: number,
): readonly string[] {
  const isFormerLive = formerSecretUntil !== null && Date.parse(formerSecretUntil) > now;
  return [webhookSecretRef, isFormerLive ? formerSecretRef : null].filter((one) => one !== null);
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
