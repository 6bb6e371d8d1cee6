import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { endDeliveryAttempt } from '../../../commands/notifications/end-delivery-attempt.ts';
import { startDeliveryAttempt, type StartedAttempt } from '../../../commands/notifications/start-delivery-attempt.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { FairLimiter, TooBusy } from '../../platform/fairness/fair-limiter.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { JobRequest } from '../../platform/kernel/job.ts';
import { system } from '../../platform/kernel/actor.ts';
import type { DomainEvent } from '../../platform/kernel/event.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { AlertHistory } from './alert-document.ts';
import type { AttemptOutcome, Channel } from './channel.ts';
import { ATTEMPT_HELD_MS, delivery } from './domain/delivery.ts';
import type { DeliveryEvent } from './domain/events.ts';
import type { NotifiedEvent } from './domain/alert-change.ts';
import type { ChannelName } from './domain/message.ts';
import { countAttempt, countExhausted } from './delivery-metrics.ts';
import { deliveryWaking } from './jobs.ts';
import { MessageReader } from './message-reader.ts';

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

const MAX_WOKEN = 10_000;

const ACTOR = system('outbox');

type DeliveryPlanned = Extract<DeliveryEvent, { readonly type: 'DeliveryPlanned' }>;

/** Makes attempts at deliveries: records the beginning, sends, records the result. */
export class DeliverySender {
  readonly #ports: SenderPorts;
  readonly #reader: MessageReader;
  readonly #limiter = new FairLimiter(SHARES);
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #stopping = new AbortController();
  /** Deliveries whose jobs are not needed. */
  readonly #woken = new LRUCache<string, true>({ max: MAX_WOKEN });

  constructor(ports: SenderPorts, channels: readonly Channel[]) {
    this.#ports = ports;
    this.#reader = new MessageReader(ports, channels);
  }

  /**
   * Begins with deliveries that this process has just planned: this saves the way over the feed and the queue.
   */
  wake(tenantId: TenantId, events: readonly DomainEvent[]): void {
    for (const event of events) {
      if (event.type !== 'DeliveryPlanned') continue;
      const { deliveryId, channel, digestDueAt, subject } = (event as DeliveryPlanned).data;
      if (digestDueAt !== null || subject.kind === 'test') continue;
      this.#woken.set(deliveryId, true);
      const begun = begunAttempt(events, deliveryId);
      if (begun) this.#queue(tenantId, deliveryId, channel, () => this.#finish(tenantId, begun));
      else this.submit(tenantId, deliveryId, channel);
    }
  }

  /** An attempt that begins now would not wait for its turn. Then reads what the message needs. */
  mayBegin(tenantId: TenantId, channel: ChannelName, about: NotifiedEvent): boolean {
    if (this.#stopping.signal.aborted || !this.#limiter.hasRoom(`${tenantId}|${channel}`)) return false;
    this.#reader.begin(tenantId, channel, about);
    return true;
  }

  /**
   * True, once, for the job of a delivery that this process was woken for: the job would find nothing to do. If the
   * process is killed, the sweep finds the delivery.
   */
  wasWokenFor({ job, data }: JobRequest): boolean {
    return job.name === deliveryWaking.name && this.#woken.delete((data as { readonly deliveryId: string }).deliveryId);
  }

  /** Attempts the delivery when it is its tenant's turn. Returns at once; a delivery under way is not started twice. */
  submit(tenantId: TenantId, deliveryId: string, channel: ChannelName): void {
    if (this.#stopping.signal.aborted) return;
    this.#queue(tenantId, deliveryId, channel, () => this.attempt(tenantId, deliveryId));
  }

  #queue(tenantId: TenantId, deliveryId: string, channel: ChannelName, work: () => Promise<unknown>): void {
    if (this.#underWay.has(deliveryId)) return;
    const attempt = this.#limiter
      .run(`${tenantId}|${channel}`, work)
      .catch((error: unknown) => {
        this.#woken.delete(deliveryId);
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
    const execution = { tenantId, actor: ACTOR };
    const { result } = orThrow(await this.#ports.executor.execute(startDeliveryAttempt, { deliveryId }, execution));
    return result && this.#finish(tenantId, { ...result, heldUntil: Date.now() + ATTEMPT_HELD_MS });
  }

  /** Sends, and records the result. Undefined if the attempt waited for its turn so long that it may be another's now. */
  async #finish(tenantId: TenantId, started: BegunAttempt): Promise<AttemptOutcome | undefined> {
    if (Date.now() > started.heldUntil - ATTEMPT_MS) return undefined;
    const { attempt, message } = started;
    const begun = performance.now();
    const outcome = await this.#send(tenantId, started);
    const durationMs = Math.round(performance.now() - begun);
    countAttempt(message.channel, outcome.kind, durationMs / 1_000);
    const result = { deliveryId: message.deliveryId, attempt, durationMs, ...resultOf(outcome) };
    const ended = orThrow(await this.#ports.executor.execute(endDeliveryAttempt, result, { tenantId, actor: ACTOR }));
    if (outcome.kind === 'deferred' && isLast(ended.events)) countExhausted(message.channel);
    await this.#wakeLater(tenantId, started, ended.events);
    return outcome;
  }

  /** Gives up attempts under way, which are then recorded as deferred, and starts no more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the process ends'));
    await Promise.all(this.#underWay.values());
  }

  async #send(tenantId: TenantId, { attempt, message }: StartedAttempt): Promise<AttemptOutcome> {
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    try {
      const { content, ready } = await this.#reader.read(tenantId, message.channel, message.subject);
      if (!ready) return { kind: 'deferred', reason: 'this process has no such channel' };
      if (content === 'gone') return { kind: 'refused', reason: 'the alert no longer exists' };
      return await ready.send({ tenantId, attempt, ...message, alert: content }, signal);
    } catch {
      return { kind: 'deferred', reason: signal.aborted ? 'the attempt was given up' : 'the attempt failed' };
    }
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

/** An attempt that this process has recorded. */
interface BegunAttempt extends StartedAttempt {
  /** Epoch milliseconds. Another process may begin one then. */
  readonly heldUntil: number;
}

/** The attempt that began in the same append as the plan of its delivery. */
function begunAttempt(events: readonly DomainEvent[], deliveryId: string): BegunAttempt | undefined {
  const own = (events as readonly DeliveryEvent[]).filter(({ data }) => data.deliveryId === deliveryId);
  const { message, attempts, heldUntil } = own.reduce(delivery.fold, delivery.initial);
  return message && heldUntil !== undefined ? { message, attempt: attempts, heldUntil } : undefined;
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
