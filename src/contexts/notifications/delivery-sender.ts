import type { Logger } from 'pino';
import { endDeliveryAttempt } from '../../../commands/notifications/end-delivery-attempt.ts';
import { startDeliveryAttempt, type StartedAttempt } from '../../../commands/notifications/start-delivery-attempt.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { FairLimiter, TooBusy } from '../../platform/fairness/fair-limiter.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import type { DomainEvent } from '../../platform/kernel/event.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { alertAfter, type AlertHistory } from './alert-document.ts';
import type { AttemptOutcome, Channel, OutboundMessage } from './channel.ts';
import type { DeliveryEvent } from './domain/events.ts';
import type { ChannelName } from './domain/message.ts';
import { countAttempt, countExhausted } from './delivery-metrics.ts';
import { deliveryWaking } from './jobs.ts';

export interface SenderPorts extends AlertHistory {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly log: Logger;
  jobs(): Pick<Jobs, 'enqueue'>;
}

/** Longer than any channel's own limits. */
const ATTEMPT_MS = 20_000;
/** Earlier attempts follow by a job of their own; later ones are found by the sweep. */
const SOON_MS = 10 * 60_000;

/**
 * Attempts at a time, in this process. A receiver that hangs occupies the share of its own tenant and channel. Waiting
 * deliveries beyond the limits are found again by the sweep.
 */
const SHARES = {
  what: 'sending',
  atOnce: 512,
  perKey: 4,
  waiting: 20_000,
  waitingPerKey: 1_000,
  waitMs: 10 * 60_000,
};

const ACTOR = system('outbox');

type DeliveryPlanned = Extract<DeliveryEvent, { readonly type: 'DeliveryPlanned' }>;

/** Makes attempts at deliveries: records the beginning, sends, records the result. */
export class DeliverySender {
  readonly #ports: SenderPorts;
  readonly #channels: ReadonlyMap<string, Channel>;
  readonly #limiter = new FairLimiter(SHARES);
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(ports: SenderPorts, channels: readonly Channel[]) {
    this.#ports = ports;
    this.#channels = new Map(channels.map((channel) => [channel.name, channel]));
  }

  /**
   * Begins with deliveries that this process has just planned. Their jobs follow, and find nothing to do: this saves the
   * way over the feed and the queue.
   */
  wake(tenantId: TenantId, events: readonly DomainEvent[]): void {
    for (const event of events) {
      if (event.type !== 'DeliveryPlanned') continue;
      const { deliveryId, channel, digestDueAt, subject } = (event as DeliveryPlanned).data;
      if (digestDueAt === null && subject.kind !== 'test') this.submit(tenantId, deliveryId, channel);
    }
  }

  /** Attempts the delivery when it is its tenant's turn. Returns at once; a delivery under way is not started twice. */
  submit(tenantId: TenantId, deliveryId: string, channel: ChannelName): void {
    if (this.#underWay.has(deliveryId) || this.#stopping.signal.aborted) return;
    const attempt = this.#limiter
      .run(`${tenantId}|${channel}`, () => this.attempt(tenantId, deliveryId))
      .catch((error: unknown) => {
        if (error instanceof TooBusy) return;
        this.#ports.log.warn({ tenantId, deliveryId, reason: (error as Error).name }, 'an attempt was not recorded');
      })
      .finally(() => this.#underWay.delete(deliveryId));
    this.#underWay.set(deliveryId, attempt);
  }

  /**
   * Attempts the delivery now and returns what became of it; undefined if no attempt is due, or another process makes
   * it. Throws if the attempt cannot be recorded.
   */
  async attempt(tenantId: TenantId, deliveryId: string): Promise<AttemptOutcome | undefined> {
    if (this.#stopping.signal.aborted) return undefined;
    const { executor } = this.#ports;
    const execution = { tenantId, actor: ACTOR };
    const { result } = orThrow(await executor.execute(startDeliveryAttempt, { deliveryId }, execution));
    if (!result) return undefined;
    const begun = performance.now();
    const outcome = await this.#send(tenantId, result);
    const durationMs = Math.round(performance.now() - begun);
    countAttempt(result.message.channel, outcome.kind, durationMs / 1_000);
    const ended = orThrow(
      await executor.execute(
        endDeliveryAttempt,
        { deliveryId, attempt: result.attempt, durationMs, ...resultOf(outcome) },
        execution,
      ),
    );
    if (outcome.kind === 'deferred' && isLast(ended.events)) countExhausted(result.message.channel);
    await this.#wakeLater(tenantId, result, ended.events);
    return outcome;
  }

  /** Gives up attempts under way, which are then recorded as deferred, and starts no more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the process ends'));
    await Promise.all(this.#underWay.values());
  }

  async #send(tenantId: TenantId, { attempt, message }: StartedAttempt): Promise<AttemptOutcome> {
    const channel = this.#channels.get(message.channel);
    if (!channel) return { kind: 'deferred', reason: 'this process has no such channel' };
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    try {
      const content = await this.#content(tenantId, message);
      if (content === 'gone') return { kind: 'refused', reason: 'the alert no longer exists' };
      return await channel.send({ tenantId, attempt, ...message, alert: content }, signal);
    } catch {
      return { kind: 'deferred', reason: signal.aborted ? 'the attempt was given up' : 'the attempt failed' };
    }
  }

  async #content(
    tenantId: TenantId,
    { subject }: StartedAttempt['message'],
  ): Promise<OutboundMessage['alert'] | 'gone'> {
    if (!('alertId' in subject) || subject.alertId === null || subject.eventId === null) return undefined;
    const { alertId, eventId } = subject;
    return (await alertAfter(this.#ports, tenantId, { alertId, eventId })) ?? 'gone';
  }

  async #wakeLater(
    tenantId: TenantId,
    { attempt, message: { deliveryId, channel } }: StartedAttempt,
    events: readonly { readonly type: string; readonly data: unknown }[],
  ): Promise<void> {
    const nextAttemptAt = nextOf(events);
    if (typeof nextAttemptAt !== 'string') return;
    const delayMs = Date.parse(nextAttemptAt) - Date.now();
    if (delayMs > SOON_MS) return;
    await this.#ports
      .jobs()
      .enqueue(deliveryWaking, { tenantId, deliveryId, channel }, { id: `${deliveryId}/${attempt}`, delayMs })
      .catch(() => undefined); // the sweep finds it
  }
}

type Events = readonly { readonly type: string; readonly data: unknown }[];

/** Null: there is none. Undefined: nothing was recorded. */
const nextOf = ([ended]: Events): string | null | undefined =>
  (ended?.data as { readonly nextAttemptAt: string | null } | undefined)?.nextAttemptAt;
const isLast = (events: Events): boolean => nextOf(events) === null;

function resultOf(outcome: AttemptOutcome): {
  readonly outcome: AttemptOutcome['kind'];
  readonly response: string;
  readonly retryAfterMs?: number | undefined;
} {
  switch (outcome.kind) {
    case 'accepted':
      return { outcome: 'accepted', response: outcome.response };
    case 'deferred':
      return { outcome: 'deferred', response: outcome.reason, retryAfterMs: outcome.retryAfterMs };
    case 'refused':
      return { outcome: 'refused', response: outcome.reason };
  }
}
