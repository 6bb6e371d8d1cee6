import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import type { BacklogWorker } from './backlog-worker.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { EffectRunner } from './effect-runner.ts';
import { failureClassOf } from './failure-class.ts';
import type { ReactionLease } from './reaction-lease.ts';
import type { ReactionOutcomes } from './reaction-outcomes.ts';
import { ReactionPage } from './reaction-page.ts';
import { processTenantBatch, type ProcessedBatch, type TenantBatch } from './tenant-batch.ts';

const PAGE = 500;
const IDLE_MS = 1_000;
/**
 * A checkpoint that only passed unrelated events is saved once the log is quiet this long, or with the lease. So not
 * every event costs a transaction.
 */
const QUIET_MS = 100;
/**
 * Pages of relevant events begin at least this far apart, or twice as long as the last one took if that is less. Under
 * load, pages take long, and many events are looked up and written together. A single event does not wait.
 */
const STRIDE_MS = 25;
/** A tenant with more effects than this on a page is set aside, so that the page and later ones do not wait for it. */
const PAGE_EFFECTS = 10;

export interface FollowerServices {
  readonly reaction: AnyReaction;
  readonly subscription: CatchUpSubscription;
  readonly runner: EffectRunner;
  readonly deadLetters: DeadLetters;
  readonly outcomes: ReactionOutcomes;
  readonly log: Logger;
  /** No other process reads the saved checkpoint. */
  readonly alone: boolean;
}

/** Follows the log under one lease, page by page. */
export class ReactionFollower {
  readonly #services: FollowerServices;
  readonly #lease: ReactionLease;
  readonly #signal: AbortSignal;
  #renewed = Number.NEGATIVE_INFINITY;
  /** No page of relevant events begins before. */
  #nextPage = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(lease: ReactionLease, signal: AbortSignal, services: FollowerServices) {
    this.#lease = lease;
    this.#signal = signal;
    this.#services = services;
  }

  /** Goes on until the signal is aborted; then throws its reason. */
  async follow(worker: BacklogWorker): Promise<void> {
    const { subscription, outcomes } = this.#services;
    const [lease, signal] = [this.#lease, this.#signal];
    let isCareful = false;
    while (!signal.aborted) {
      await this.#lookForRequests();
      const moved = await this.#step(isCareful).catch((error: unknown) => {
        if (isCareful || signal.aborted || failureClassOf(error) === 'outage') throw error;
        // The database refused one of these events, and does not say which tenant's. Each tenant is worked by itself.
        isCareful = true;
        return 'again' as const;
      });
      if (moved === 'again') continue;
      isCareful = false;
      worker.start();
      if (lease.laggards.size === 0) await outcomes.succeeded(lease.checkpoint);
      if (moved) continue;
      await subscription.wait(lease.position, IDLE_MS, {
        signal,
        concerns: this.#concerns,
        pause: this.#hurries ? QUIET_MS : undefined,
      });
      if (this.#hurries && subscription.quietFor(QUIET_MS)) await this.#keep();
    }
    throw signal.reason;
  }

  /** Renews the lease each second, however long a page takes; a little later if it has just been renewed. */
  async keepLease(): Promise<void> {
    const signal = this.#signal;
    while (!signal.aborted) {
      // At the same moments as all other reactions, whose renewals then share one statement.
      await sleep(IDLE_MS - (performance.now() % IDLE_MS), undefined, { signal }).catch(() => undefined);
      if (!signal.aborted && performance.now() - this.#renewed >= IDLE_MS / 2)
        await this.#keep().catch(() => undefined);
    }
  }

  async #keep(): Promise<void> {
    this.#renewed = performance.now();
    await this.#lease.keep();
  }

  /** Other processes read its saved checkpoint, which lags behind. */
  get #hurries(): boolean {
    return this.#lease.isUnsaved && !this.#services.alone;
  }

  readonly #concerns = (type: string): boolean =>
    (this.#services.reaction.on as Record<string, unknown>)[type] !== undefined;

  /**
   * Sets aside tenants with an operator's request for their parked streams, so that nothing else changes their state.
   */
  async #lookForRequests(): Promise<void> {
    const lease = this.#lease;
    if (!lease.hasParked || performance.now() - this.#lookedAt < IDLE_MS) return;
    this.#lookedAt = performance.now();
    const asked = await this.#services.deadLetters.askedTenants(lease.checkpoint);
    const setAside = new Map(
      asked.filter((tenantId) => !lease.laggards.has(tenantId)).map((tenantId) => [tenantId, lease.position]),
    );
    if (setAside.size > 0) await lease.passPage(lease.position, { worked: [], setAside });
    if (asked.length === 0 && lease.laggards.size === 0) await lease.lookForParked();
  }

  /** Works one page; returns false at the end of the log. If careful, sets aside every tenant of the page. */
  async #step(isCareful: boolean): Promise<boolean> {
    const { subscription } = this.#services;
    const [lease, signal] = [this.#lease, this.#signal];
    const from = lease.position;
    const slice = await subscription.read(from, PAGE);
    if (slice.position === from) return false;
    const wanted = slice.events.filter(({ type }) => this.#concerns(type));
    const events = (await subscription.decode(wanted)).filter((event) => event !== undefined);
    // Read while the log came into doubt: perhaps of another log.
    signal.throwIfAborted();
    if (events.length > 0) {
      const untilNext = this.#nextPage - performance.now();
      if (untilNext > 0 && slice.events.length < PAGE) {
        await sleep(untilNext, undefined, { signal });
        return true;
      }
    }
    const begun = performance.now();
    const shares = await lease.divide(() => this.#sharesOf(events, { from, to: slice.position }));
    if (isCareful) {
      const setAside = new Map(shares.map(({ tenantId }) => [tenantId, from]));
      await lease.passPage(slice.position, { worked: [], setAside });
    } else await this.#work(shares, slice.position);
    if (events.length > 0) this.#nextPage = begun + Math.min(STRIDE_MS, 2 * (performance.now() - begun));
    return true;
  }

  async #work(shares: readonly TenantBatch[], to: Position): Promise<void> {
    const { runner } = this.#services;
    // A page of unrelated events acts on nothing, so its lease need not be confirmed.
    const rows = shares.length === 0 ? [] : await this.#lease.load(shares.flatMap(({ flowing }) => flowing.missing));
    const mayHaveRun = this.#lease.repeated.upTo();
    const limits = { effects: PAGE_EFFECTS, atLeastOne: false, signal: this.#signal, mayHaveRun };
    const worked = await Promise.all(shares.map((batch) => processTenantBatch(batch, rows, runner, limits)));
    const setAside = new Map(
      worked.filter(({ isCut }) => isCut).map(({ tenantId, reached }): [TenantId, Position] => [tenantId, reached]),
    );
    await this.#lease.passPage(to, { worked, setAside });
    await this.#tell(worked);
  }

  /** Divides events by tenant. Tenants that are set aside are left out. */
  async #sharesOf(events: readonly RecordedEvent[], stretch: Pick<TenantBatch, 'from' | 'to'>): Promise<TenantBatch[]> {
    const parked = await this.#lease.parkedAmong(events.map(({ stream }) => stream));
    const byTenant = new Map<TenantId, RecordedEvent[]>();
    // From here on, a tenant that is set aside stays so until its turns have reached the events that are left out
    // now.
    for (const event of events) {
      const backlogTenant = this.#lease.laggards.get(event.tenantId);
      const mine = byTenant.get(event.tenantId);
      if (backlogTenant) backlogTenant.latest = event.position;
      else if (mine) mine.push(event);
      else byTenant.set(event.tenantId, [event]);
    }
    return [...byTenant].map(([tenantId, mine]) => ({
      tenantId,
      flowing: new ReactionPage(
        this.#services.reaction,
        mine.filter(({ stream }) => !parked.has(stream)),
      ),
      behind: mine.filter(({ stream }) => parked.has(stream)),
      ...stretch,
    }));
  }

  async #tell(worked: readonly ProcessedBatch[]): Promise<void> {
    const { log, outcomes } = this.#services;
    const { name } = this.#services.reaction;
    for (const { parked, interruption, tenantId } of worked) {
      if (interruption)
        log.warn(
          { reaction: name, tenantId, reason: interruption.error.message },
          "a reaction will retry a tenant's events",
        );
      for (const { event, error } of parked)
        if (error !== undefined)
          log.error(
            { reaction: name, stream: event.stream, position: String(event.position), reason: error },
            'a stream was parked',
          );
    }
    if (worked.some(({ interruption }) => !interruption)) await outcomes.succeeded(this.#lease.checkpoint);
  }
}
