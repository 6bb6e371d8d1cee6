import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { levelOfFailure, type LogTrust } from '../eventstore/log-trust.ts';
import { versionOf, type AnyReaction } from '../kernel/reaction.ts';
import { BacklogWorker } from './backlog-worker.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import { LeaseLost, type Checkpoint, type Checkpoints } from './checkpoints.ts';
import { LeaseStarts } from './lease-starts.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { DeadLetters } from './dead-letters.ts';
import { EffectRunner, type EffectPorts } from './effect-runner.ts';
import { ReactionFollower } from './reaction-follower.ts';
import { ReactionHistory } from './reaction-history.ts';
import { ReactionLease } from './reaction-lease.ts';
import { NoSuccess, ReactionOutcomes } from './reaction-outcomes.ts';
import { prepareReaction } from './reaction-preparation.ts';
import { ReactionState } from './reaction-state.ts';
import { TenantBacklogs } from './tenant-backlogs.ts';

export type { EffectPorts } from './effect-runner.ts';

const IDLE_MS = 1_000;
/** Effects that run at once, over all tenants and reactions that share the slots. */
export const EFFECTS_AT_ONCE = 8;

export interface ReactionServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly subscription: CatchUpSubscription;
  readonly trust: LogTrust;
  readonly effects: EffectPorts;
  readonly log: Logger;
  /** No other process works on this database: none holds its leases or reads its checkpoints. */
  readonly alone: boolean;
  readonly shared?: SharedByReactions;
}

/** What the reactions of a process share. */
export interface SharedByReactions {
  readonly limiter: ConcurrencyLimiter;
  readonly leaseStarts: LeaseStarts;
}

export const sharedByReactions = ({
  pool,
  subscription,
}: Pick<ReactionServices, 'pool' | 'subscription'>): SharedByReactions => ({
  limiter: new ConcurrencyLimiter(EFFECTS_AT_ONCE),
  leaseStarts: new LeaseStarts({
    backlogs: new TenantBacklogs(pool),
    deadLetters: new DeadLetters(pool),
    subscription,
  }),
});

/** What belongs to the reaction and outlasts a lease. */
type Parts = Pick<ReactionServices, 'pool' | 'checkpoints' | 'subscription' | 'log' | 'alone'> & {
  readonly reaction: AnyReaction;
  readonly state: ReactionState;
  readonly runner: EffectRunner;
  readonly deadLetters: DeadLetters;
  readonly backlogs: TenantBacklogs;
  readonly leaseStarts: LeaseStarts;
  readonly outcomes: ReactionOutcomes;
};

/**
 * Follows the log for one reaction. Commands run before the checkpoint moves, and jobs are enqueued with it. So after
 * a crash an effect may be requested again, under the same id, but is never lost.
 *
 * Events of one tenant are worked one after the other, those of several tenants at once. A tenant with too many
 * effects for a page, or whose events cannot be worked now, is set aside with a checkpoint of its own
 * (`backlog-worker.ts`), and all others go on.
 */
export class ReactionRunner {
  readonly #parts: Parts;
  readonly #trust: LogTrust;
  readonly #stop = new AbortController();
  #checkpoint: Checkpoint | undefined;
  #running: Promise<void> | undefined;
  #isPrepared = false;
  #hasDropped = false;

  constructor(reaction: AnyReaction, services: ReactionServices) {
    const { pool, checkpoints, subscription, log, alone } = services;
    const { limiter, leaseStarts } = services.shared ?? sharedByReactions(services);
    this.#trust = services.trust;
    this.#parts = {
      pool,
      checkpoints,
      subscription,
      log,
      alone,
      reaction,
      state: new ReactionState(reaction),
      runner: new EffectRunner(reaction.name, services.effects, limiter, log),
      deadLetters: new DeadLetters(pool),
      backlogs: new TenantBacklogs(pool),
      leaseStarts,
      outcomes: new ReactionOutcomes(checkpoints),
    };
  }

  async prepare(): Promise<void> {
    await prepareReaction(this.#parts.reaction, this.#parts.state, this.#parts);
    this.#isPrepared = true;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#checkpoint) await this.#parts.checkpoints.release([this.#checkpoint]).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { checkpoints, reaction, alone } = this.#parts;
    let seize = alone;
    while (!signal.aborted) {
      try {
        // While the log is in doubt, nothing runs. A lease that a doubt has ended reads its checkpoints again.
        await this.#trust.assured();
        const { epoch } = this.#trust;
        if (!this.#isPrepared) await this.prepare();
        const key = { name: reaction.name, version: versionOf(reaction) };
        [this.#checkpoint] = await checkpoints.acquire([key], ['live', 'filling'], seize);
        seize = false;
        if (!this.#checkpoint) await sleep(IDLE_MS, undefined, { signal });
        else if (this.#checkpoint.state === 'filling') await this.#foldHistory(this.#checkpoint, epoch);
        else await this.#lead(this.#checkpoint, epoch);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error as Error);
      }
    }
  }

  /** Folds the state of a new version from history. Afterwards the cursor is live and acquired again. */
  async #foldHistory(checkpoint: Checkpoint, epoch: number): Promise<void> {
    const over = this.#untilDoubt(epoch);
    try {
      const history = new ReactionHistory(checkpoint, this.#parts);
      await history.fold(AbortSignal.any([this.#stop.signal, over.signal]));
      this.#parts.outcomes.folded();
    } finally {
      over.unsubscribe();
    }
  }

  /** Ends with a doubt about the log, or at once if there was one since this epoch. */
  #untilDoubt(epoch: number) {
    const over = new AbortController();
    const unsubscribe = this.#trust.onDoubt(() => over.abort(new LeaseLost()));
    if (this.#trust.epoch !== epoch) over.abort(new LeaseLost());
    return { signal: over.signal, end: (reason?: Error) => over.abort(reason), unsubscribe };
  }

  /** Runs once per process. A failure holds nothing up; the next lease tries again. */
  async #dropRetired(): Promise<void> {
    const { pool, checkpoints, log, state, reaction } = this.#parts;
    if (this.#hasDropped) return;
    await state.dropRetired(pool, checkpoints).then(
      () => (this.#hasDropped = true),
      (error: Error) =>
        log.warn({ reaction: reaction.name, reason: error.message }, 'the state of a retired version was not dropped'),
    );
  }

  /** Holds the lease until something fails. Returns only when every turn under this lease has ended. */
  async #lead(checkpoint: Checkpoint, epoch: number): Promise<void> {
    await this.#dropRetired();
    const lease = await ReactionLease.begin(checkpoint, this.#parts);
    const over = this.#untilDoubt(epoch);
    const signal = AbortSignal.any([this.#stop.signal, lease.ended, over.signal]);
    const heard = (outage: Error | undefined) => this.#turnEnded(lease, outage, over.end);
    const worker = new BacklogWorker({ ...this.#parts, lease, signal, heard });
    const follower = new ReactionFollower(lease, signal, this.#parts);
    this.#parts.outcomes.begin(checkpoint);
    const keeping = follower.keepLease();
    try {
      worker.start();
      await follower.follow(worker);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      over.unsubscribe();
      over.end();
      await Promise.all([keeping, worker.ended()]);
      this.#checkpoint = { ...lease.checkpoint };
    }
  }

  /** Called when a tenant's turn ends. If all turns fail here, another process may succeed: the lease is released. */
  #turnEnded(lease: ReactionLease, outage: Error | undefined, end: (reason: Error) => void): void {
    const { outcomes, alone } = this.#parts;
    if (!outage) return void outcomes.succeeded(lease.checkpoint).catch(() => undefined);
    if (!outcomes.turnFailed()) return;
    if (alone) void outcomes.blame(lease.checkpoint, outage);
    else end(new NoSuccess(outage.message, { cause: outage }));
  }

  async #recover(error: Error): Promise<void> {
    const { log, reaction, outcomes, alone } = this.#parts;
    if (!(error instanceof LeaseLost))
      log[levelOfFailure(error)](
        { reaction: reaction.name, reason: error.message },
        'a reaction failed and will retry',
      );
    const isPersistent = outcomes.failed() || error instanceof NoSuccess;
    if (isPersistent) await this.#giveWay(error);
    this.#checkpoint = undefined;
    const wait = error instanceof NoSuccess ? 0 : Math.min(100 * 2 ** outcomes.failures, 10_000) * Math.random();
    const untilTaken = isPersistent && !alone ? 2 * IDLE_MS : 0;
    await sleep(Math.max(wait, untilTaken), undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /**
   * Another process may succeed. `/health` names the reaction: if no process can, later events wait and no retry
   * helps.
   */
  async #giveWay(error: Error): Promise<void> {
    const { checkpoints, outcomes, alone } = this.#parts;
    if (!this.#checkpoint || error instanceof LeaseLost) return;
    await outcomes.blame(this.#checkpoint, error);
    if (!alone) await checkpoints.release([this.#checkpoint]).catch(() => undefined);
  }
}
