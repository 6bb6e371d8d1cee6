import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { LogTrust } from '../eventstore/log-trust.ts';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { versionOf, type AnyReaction } from '../kernel/reaction.ts';
import { BacklogWorker } from './backlog-worker.ts';
import { LeaseLost, type Checkpoint, type Checkpoints } from './checkpoints.ts';
import { EffectRunner, type EffectPorts } from './effect-runner.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import { DeadLetters } from './dead-letters.ts';
import { ReactionHistory } from './reaction-history.ts';
import { ReactionPage } from './reaction-page.ts';
import { ReactionState } from './reaction-state.ts';
import { ReactionLease } from './reaction-lease.ts';
import { handOverReactionState } from './reaction-state-handover.ts';
import { failureClassOf } from './failure-class.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { TenantBacklogs } from './tenant-backlogs.ts';
import { processTenantBatch, type TenantBatch, type ProcessedBatch } from './tenant-batch.ts';

export type { EffectPorts } from './effect-runner.ts';

/** After this many failures in a row the failure is recorded and the lease may be released. */
const FAILURES_TO_REPORT = 3;
const PAGE = 500;
const IDLE_MS = 1_000;
/**
 * A checkpoint that only passed unrelated events is saved once the log is quiet this long, or with the lease. So not
 * every event costs a transaction.
 */
const QUIET_MS = 100;
/**
 * Pages of relevant events begin at least this far apart. Under load, many events are looked up and written together.
 */
const STRIDE_MS = 25;
/** A tenant with more effects than this on a page is set aside, so that the page and later ones do not wait for it. */
const PAGE_EFFECTS = 10;
/** Effects that run at once, over all tenants and reactions that share the slots. */
export const EFFECTS_AT_ONCE = 8;
/**
 * The interval between releases of the lease doubles up to this many failures: 3 failures in a row, then 6, then 12,
 * …
 */
const MAX_OUTAGES_TO_GIVE_WAY = 192;

export interface ReactionServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly subscription: CatchUpSubscription;
  readonly trust: LogTrust;
  readonly effects: EffectPorts;
  readonly log: Logger;
  /** No other process works on this database: none holds its leases or reads its checkpoints. */
  readonly alone: boolean;
  /** Shared by the reactions of a process. */
  readonly limiter?: ConcurrencyLimiter;
}

/**
 * Follows the log for one reaction. Commands run before the checkpoint moves, and jobs are enqueued with it. So after
 * a crash an effect may be requested again, under the same id, but is never lost.
 *
 * Events of one tenant are worked one after the other, those of several tenants at once. A tenant with too many
 * effects for a page, or whose events cannot be worked now, is set aside with a checkpoint of its own
 * (`backlog-worker.ts`), and all others go on.
 */
export class ReactionRunner {
  readonly #reaction: AnyReaction;
  readonly #services: ReactionServices;
  readonly #state: ReactionState;
  readonly #runner: EffectRunner;
  readonly #deadLetters: DeadLetters;
  readonly #backlogs: TenantBacklogs;
  readonly #concerns: (type: string) => boolean;
  readonly #stop = new AbortController();
  #checkpoint: Checkpoint | undefined;
  #running: Promise<void> | undefined;
  #isPrepared = false;
  #hasDropped = false;
  #renewed = 0;
  #lastPage = 0;
  #lookedAt = 0;
  #failures = 0;
  #blamed = false;
  /** Failed turns of tenants since the last successful one, and the number at which this process gives way. */
  #outages = 0;
  #outagesToGiveWay = FAILURES_TO_REPORT;

  constructor(reaction: AnyReaction, services: ReactionServices) {
    this.#reaction = reaction;
    this.#services = services;
    this.#state = new ReactionState(reaction);
    this.#runner = new EffectRunner(
      reaction.name,
      services.effects,
      services.limiter ?? new ConcurrencyLimiter(EFFECTS_AT_ONCE),
      services.log,
    );
    this.#deadLetters = new DeadLetters(services.pool);
    this.#backlogs = new TenantBacklogs(services.pool);
    this.#concerns = (type) => (reaction.on as Record<string, unknown>)[type] !== undefined;
  }

  /**
   * A new reaction begins at the current end of the log: earlier events were handled otherwise or not meant for it. A
   * new version begins where the previous version stopped.
   */
  async prepare(): Promise<void> {
    const { checkpoints, subscription } = this.#services;
    const { name, lane } = this.#reaction;
    const key = { name, version: versionOf(this.#reaction), generation: 1 };
    await checkpoints.ensure(
      { ...key, lane, kind: 'reaction', state: 'live', position: subscription.head },
      async (client) => {
        await this.#state.create(client);
        await handOverReactionState(client, key, this.#state);
      },
    );
    await this.#tellIfSucceeded(key.version);
    this.#isPrepared = true;
  }

  /** After a rollback of the software, this process must not act: the newer version's checkpoint counts. */
  async #tellIfSucceeded(version: number): Promise<void> {
    const { pool, log } = this.#services;
    const { name } = this.#reaction;
    const { rows } = await pool.query<{ version: number }>(
      `select version from cursors where name = $1 and kind = 'reaction' and version > $2 and state <> 'retired'`,
      [name, version],
    );
    for (const newer of rows)
      log.error(
        { reaction: name, version, newer: newer.version },
        'a newer version of this reaction has taken over: this process does not run it, and its events wait',
      );
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#checkpoint) await this.#services.checkpoints.release([this.#checkpoint]).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { trust } = this.#services;
    let seize = this.#services.alone;
    while (!signal.aborted) {
      try {
        // While the log is in doubt, nothing runs. A lease that a doubt has ended reads its checkpoints again.
        await trust.assured();
        if (!this.#isPrepared) await this.prepare();
        const { epoch } = trust;
        const key = { name: this.#reaction.name, version: versionOf(this.#reaction) };
        [this.#checkpoint] = await this.#services.checkpoints.acquire([key], ['live', 'filling'], seize);
        seize = false;
        if (!this.#checkpoint) await sleep(IDLE_MS, undefined, { signal });
        else if (this.#checkpoint.state === 'filling') await this.#foldHistory(this.#checkpoint, epoch);
        else await this.#lead(this.#checkpoint, epoch);
      } catch (error) {
        if (signal.aborted) return;
        this.#failures += 1;
        await this.#recover(error as Error);
      }
    }
  }

  /** Folds the state of a new version from history. Afterwards the cursor is live and acquired again. */
  async #foldHistory(checkpoint: Checkpoint, epoch: number): Promise<void> {
    const { pool, checkpoints, subscription, trust, log } = this.#services;
    const over = new AbortController();
    const unsubscribe = trust.onDoubt(() => over.abort(new LeaseLost()));
    if (trust.epoch !== epoch) over.abort(new LeaseLost());
    const [reaction, state, deadLetters, backlogs] = [this.#reaction, this.#state, this.#deadLetters, this.#backlogs];
    try {
      const history = new ReactionHistory(checkpoint, {
        reaction,
        state,
        pool,
        checkpoints,
        subscription,
        deadLetters,
        backlogs,
        log,
      });
      await history.fold(AbortSignal.any([this.#stop.signal, over.signal]));
      this.#failures = 0;
    } finally {
      unsubscribe();
    }
  }

  /** Runs once per process. A failure holds nothing up; the next lease tries again. */
  async #dropRetired(): Promise<void> {
    const { pool, log } = this.#services;
    if (this.#hasDropped) return;
    await this.#state.dropRetired(pool).then(
      () => (this.#hasDropped = true),
      (error: Error) =>
        log.warn(
          { reaction: this.#reaction.name, reason: error.message },
          'the state of a retired version was not dropped',
        ),
    );
  }

  /** Holds the lease until something fails. Returns only when every turn under this lease has ended. */
  async #lead(checkpoint: Checkpoint, epoch: number): Promise<void> {
    const { pool, checkpoints, subscription, trust, log } = this.#services;
    const [state, runner, deadLetters, backlogs] = [this.#state, this.#runner, this.#deadLetters, this.#backlogs];
    await this.#dropRetired();
    const lease = await ReactionLease.begin(checkpoint, { pool, checkpoints, state, runner, deadLetters, backlogs });
    const over = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, lease.ended, over.signal]);
    const onTurnEnd = (outage: Error | undefined) => this.#turnEnded(lease, outage, over);
    const worker = new BacklogWorker({
      reaction: this.#reaction,
      lease,
      pool,
      subscription,
      state,
      deadLetters,
      backlogs,
      runner,
      log,
      signal,
      heard: onTurnEnd,
    });
    // The previous holder may have recorded why it could not go on.
    this.#blamed = Boolean(checkpoint.failure);
    const keeping = this.#keepLease(lease, signal);
    const unsubscribe = trust.onDoubt(() => over.abort(new LeaseLost()));
    if (trust.epoch !== epoch) over.abort(new LeaseLost());
    try {
      worker.start();
      await this.#follow(lease, worker, signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      unsubscribe();
      over.abort();
      await Promise.all([keeping, worker.ended()]);
      this.#checkpoint = { ...lease.checkpoint };
    }
  }

  async #follow(term: ReactionLease, worker: BacklogWorker, signal: AbortSignal): Promise<void> {
    const { subscription: tail } = this.#services;
    let isCareful = false;
    while (!signal.aborted) {
      await this.#lookForRequests(term);
      const moved = await this.#step(term, isCareful, signal).catch((error: unknown) => {
        if (isCareful || signal.aborted || failureClassOf(error) === 'outage') throw error;
        // The database refused one of these events, and does not say which tenant's. Each tenant is worked by itself.
        isCareful = true;
        return 'again' as const;
      });
      if (moved === 'again') continue;
      isCareful = false;
      worker.start();
      if (term.laggards.size === 0) await this.#succeed(term);
      if (moved) continue;
      await tail.wait(term.position, IDLE_MS, {
        signal,
        concerns: this.#concerns,
        pause: this.#hurries(term) ? QUIET_MS : undefined,
      });
      if (this.#hurries(term) && tail.quietFor(QUIET_MS)) await this.#keep(term);
    }
    throw signal.reason;
  }

  /**
   * Sets aside tenants with an operator's request for their parked streams, so that nothing else changes their state.
   */
  async #lookForRequests(lease: ReactionLease): Promise<void> {
    if (!lease.hasParked || Date.now() - this.#lookedAt < IDLE_MS) return;
    this.#lookedAt = Date.now();
    const asked = await this.#deadLetters.askedTenants(lease.checkpoint);
    const setAside = new Map(
      asked.filter((tenantId) => !lease.laggards.has(tenantId)).map((tenantId) => [tenantId, lease.position]),
    );
    if (setAside.size > 0) await lease.passPage(lease.position, { worked: [], setAside });
    if (asked.length === 0 && lease.laggards.size === 0) await lease.lookForParked();
  }

  /** Works one page; returns false at the end of the log. If careful, sets aside every tenant of the page. */
  async #step(term: ReactionLease, isCareful: boolean, signal: AbortSignal): Promise<boolean> {
    const { subscription, pool } = this.#services;
    const from = term.position;
    const slice = await subscription.read(from, PAGE);
    if (slice.position === from) return false;
    const wanted = slice.events.filter(({ type }) => this.#concerns(type));
    const events = (await subscription.decode(wanted)).filter((event) => event !== undefined);
    if (events.length > 0) {
      const untilNext = this.#lastPage + STRIDE_MS - Date.now();
      if (untilNext > 0 && slice.events.length < PAGE) {
        await sleep(untilNext, undefined, { signal });
        return true;
      }
      this.#lastPage = Date.now();
    }
    const shares = await term.divide(() => this.#sharesOf(term, events, { from, to: slice.position }));
    if (isCareful) {
      await term.passPage(slice.position, {
        worked: [],
        setAside: new Map(shares.map(({ tenantId }) => [tenantId, from])),
      });
      return true;
    }
    const rows = await this.#state.load(
      pool,
      shares.flatMap(({ flowing }) => flowing.missing),
    );
    const worked = await Promise.all(
      shares.map((batch) =>
        processTenantBatch(batch, rows, this.#runner, { effects: PAGE_EFFECTS, atLeastOne: false, signal }),
      ),
    );
    const setAside = new Map(
      worked.filter(({ isCut }) => isCut).map(({ tenantId, reached }): [TenantId, Position] => [tenantId, reached]),
    );
    await term.passPage(slice.position, { worked, setAside });
    await this.#tell(term, worked);
    return true;
  }

  /** Divides events by tenant. Tenants that are set aside are left out. */
  async #sharesOf(
    lease: ReactionLease,
    events: readonly RecordedEvent[],
    stretch: Pick<TenantBatch, 'from' | 'to'>,
  ): Promise<TenantBatch[]> {
    const parked = await lease.parkedAmong(events.map(({ stream }) => stream));
    const byTenant = new Map<TenantId, RecordedEvent[]>();
    // From here on, a tenant that is set aside stays so until its turns have reached the events that are left out
    // now.
    for (const event of events) {
      const backlogTenant = lease.laggards.get(event.tenantId);
      const mine = byTenant.get(event.tenantId);
      if (backlogTenant) backlogTenant.latest = event.position;
      else if (mine) mine.push(event);
      else byTenant.set(event.tenantId, [event]);
    }
    return [...byTenant].map(([tenantId, mine]) => ({
      tenantId,
      flowing: new ReactionPage(
        this.#reaction,
        mine.filter(({ stream }) => !parked.has(stream)),
      ),
      behind: mine.filter(({ stream }) => parked.has(stream)),
      ...stretch,
    }));
  }

  async #tell(term: ReactionLease, worked: readonly ProcessedBatch[]): Promise<void> {
    const { log } = this.#services;
    const { name } = this.#reaction;
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
    if (worked.some(({ interruption }) => !interruption)) await this.#succeed(term);
  }

  /** Some work succeeded, so neither this process nor a dependency is at fault. */
  async #succeed(lease: ReactionLease): Promise<void> {
    this.#failures = 0;
    this.#outages = 0;
    this.#outagesToGiveWay = FAILURES_TO_REPORT;
    if (!this.#blamed) return;
    this.#blamed = false;
    await this.#services.checkpoints.blame(lease.checkpoint, null);
  }

  /**
   * Called when a tenant's turn ends. If all turns fail here, another process may succeed: release the lease, less
   * often each time.
   */
  #turnEnded(term: ReactionLease, outage: Error | undefined, over: AbortController): void {
    if (!outage) return void this.#succeed(term).catch(() => undefined);
    this.#outages += 1;
    if (this.#outages % this.#outagesToGiveWay !== 0) return;
    this.#outagesToGiveWay = Math.min(2 * this.#outagesToGiveWay, MAX_OUTAGES_TO_GIVE_WAY);
    if (this.#services.alone) void this.#blame(term.checkpoint, outage);
    else over.abort(new NoSuccess(outage.message));
  }

  async #recover(error: Error): Promise<void> {
    if (!(error instanceof LeaseLost))
      this.#services.log.error(
        { reaction: this.#reaction.name, reason: error.message },
        'a reaction failed and will retry',
      );
    const isPersistent = error instanceof NoSuccess || this.#failures % FAILURES_TO_REPORT === 0;
    if (isPersistent) await this.#giveWay(error);
    this.#checkpoint = undefined;
    const wait = error instanceof NoSuccess ? 0 : Math.min(100 * 2 ** this.#failures, 10_000) * Math.random();
    const untilTaken = isPersistent && !this.#services.alone ? 2 * IDLE_MS : 0;
    await sleep(Math.max(wait, untilTaken), undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /**
   * Another process may succeed. `/health` names the reaction: if no process can, later events wait and no retry
   * helps.
   */
  async #giveWay(error: Error): Promise<void> {
    const { checkpoints, alone } = this.#services;
    if (!this.#checkpoint || error instanceof LeaseLost) return;
    await this.#blame(this.#checkpoint, error);
    if (!alone) await checkpoints.release([this.#checkpoint]).catch(() => undefined);
  }

  async #blame(checkpoint: Checkpoint, error: Error): Promise<void> {
    this.#blamed = true;
    await this.#services.checkpoints.blame(checkpoint, error.message).catch(() => undefined);
  }

  /** Renews the lease each second, however long a page takes. */
  async #keepLease(lease: ReactionLease, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(IDLE_MS / 4, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted && Date.now() - this.#renewed >= IDLE_MS) await this.#keep(lease).catch(() => undefined);
    }
  }

  async #keep(term: ReactionLease): Promise<void> {
    this.#renewed = Date.now();
    await term.keep();
  }

  /** Other processes read its saved checkpoint, which lags behind. */
  #hurries(lease: ReactionLease): boolean {
    return lease.isUnsaved && !this.#services.alone;
  }
}

/** Every turn in this process fails. */
class NoSuccess extends Error {
  override readonly name = 'NoSuccess';
}
