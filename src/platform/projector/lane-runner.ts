import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { AnyReadModel, Lane } from '../kernel/read-model.ts';
import type { ReadModelName } from '../kernel/read-model-name.ts';
import { rejectAfter } from '../observability/health.ts';
import { isRefusal } from '../database/refusal.ts';
import { LeaseLost, type Checkpoints } from './checkpoints.ts';
import { levelOfFailure, type LogTrust } from '../eventstore/log-trust.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { Freshness } from './freshness.ts';
import { LaneMembers } from './lane-members.ts';
import { InMemoryPages } from './in-memory-pages.ts';
import { FoldAgain, ModelsHalted, NarrowPage, writePageStepwise } from './stepwise-pages.ts';
import { retryDeadLetters } from './dead-letter-retry.ts';
import type { DeadLetters } from './dead-letters.ts';

/**
 * Events that are folded at once. A telemetry event may hold 500 observations; together they must fit into memory and
 * one statement.
 */
const PAGE: Readonly<Record<Lane, number>> = { main: 2_000, telemetry: 100 };
const IDLE_MS = 1_000;
/** A stop waits this long, in milliseconds, for the end of the log, and as long for the lane to reach it. */
const LAST_MS = 500;
/** After every N failures in a row the leases are released: another process may succeed. */
const GIVES_WAY = 3;
/**
 * Checkpoints that lag behind are saved this soon (sooner once the log is quiet), because other processes read them.
 */
const SETTLE_MS = 250;
const QUIET_MS = 50;
/** Pages that no caller waits for begin at least this far apart. Events in between are folded and written together. */
const STRIDE_MS = 100;

export interface LaneServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly deadLetters: DeadLetters;
  readonly subscription: CatchUpSubscription;
  readonly freshness: Freshness;
  readonly trust: LogTrust;
  readonly log: Logger;
  /** No other process works on this database: none holds its leases or reads its checkpoints. */
  readonly alone: boolean;
}

/**
 * Moves all live read models of a lane over the log together. Every model that wants a page folds it. Rows and
 * checkpoints commit in one transaction, fenced by the epochs of the leases. So each event takes effect exactly once,
 * even after a crash.
 */
export class LaneRunner {
  readonly lane: Lane;
  readonly #services: LaneServices;
  readonly #stop = new AbortController();
  readonly #atHand: InMemoryPages;
  readonly #members: LaneMembers;
  #running: Promise<void> | undefined;
  #lastLook = Number.NEGATIVE_INFINITY;
  #lastPage = Number.NEGATIVE_INFINITY;
  #unsaved = false;
  #failures = 0;
  /** The epoch of log trust in which the members were loaded. Caches of another epoch are dropped. */
  #epoch = 0;
  /** After the database refused a page: one event at a time, to find the event that it refuses. */
  #narrow = false;

  constructor(lane: Lane, models: readonly AnyReadModel[], services: LaneServices) {
    this.lane = lane;
    this.#services = services;
    this.#members = new LaneMembers(
      models.filter((model) => model.lane === lane),
      services,
    );
    this.#atHand = new InMemoryPages(services);
  }

  /** True while this process moves every model of the lane. */
  get leads(): boolean {
    return this.#members.areComplete;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    await this.#catchUp().catch(() => undefined);
    this.#stop.abort();
    await this.#running;
    // So that the next process begins where this one was.
    if (this.#services.trust.holds && this.#isCurrent) await this.#members.save().catch(() => undefined);
    await this.#members.release();
    this.#members.drop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let seize = this.#services.alone;
    while (!signal.aborted) {
      try {
        if (!(await this.#mayWork(signal))) continue;
        if (performance.now() - this.#lastLook > this.#timeoutMs) {
          await this.#lookForWork(seize);
          seize = false;
        }
        await this.#step(signal);
        this.#failures = 0;
      } catch (error) {
        await this.#recover(error as Error, signal);
      }
    }
  }

  /** Folds what was appended last, such as the seals of this stop: the next process is then ready at once. */
  async #catchUp(): Promise<void> {
    const { subscription, freshness, trust } = this.#services;
    if (!trust.holds || this.#members.all.length === 0) return;
    const head = await rejectAfter(LAST_MS, subscription.readHead());
    await freshness.waitFor(this.#members.names as readonly ReadModelName[], head, LAST_MS);
  }

  /** While the log is in doubt, nothing is written. After a doubt, cached rows and known checkpoints are dropped. */
  async #mayWork(signal: AbortSignal): Promise<boolean> {
    const { trust } = this.#services;
    if (trust.epoch !== this.#epoch) {
      this.#epoch = trust.epoch;
      this.#members.drop();
      this.#lastLook = Number.NEGATIVE_INFINITY;
    }
    if (!trust.holds) await trust.changed(IDLE_MS, signal);
    return trust.holds;
  }

  /** Acquires free leases, renews those held, and folds parked streams again at an operator's request. */
  async #lookForWork(seize: boolean): Promise<void> {
    this.#lastLook = performance.now();
    await this.#members.save();
    this.#unsaved = false;
    for (const { name, position } of await this.#members.acquireFree(seize)) this.#report([name], position);
    const services = { ...this.#services, isCurrent: () => this.#isCurrent };
    for (const member of this.#members.all) if (member.parked.size > 0) await retryDeadLetters(member, services);
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { first } = this.#members;
    if (!first) {
      await sleep(IDLE_MS / 4, undefined, { signal }).catch(() => undefined);
      return;
    }
    const from = this.#members.all.reduce((low, { position }) => (position < low ? position : low), first.position);
    const slice = await this.#services.subscription.read(from, this.#narrow ? 1 : PAGE[this.lane]);
    if (slice.position === from) this.#narrow = false;
    if (slice.position === from)
      return this.#services.subscription.wait(from, IDLE_MS, {
        signal,
        pause: this.#timeoutMs < IDLE_MS ? QUIET_MS : undefined,
      });
    const wanted = slice.events.filter(({ type }) => this.#members.followersOf(type).length > 0);
    const events = (await this.#services.subscription.decode(wanted)).filter((event) => event !== undefined);
    // Read while the log came into doubt: perhaps of another log.
    if (!this.#isCurrent) return;
    if (events.length === 0) return this.#passBy(slice.position);
    const untilNext = this.#lastPage + STRIDE_MS - performance.now();
    if (
      untilNext > 0 &&
      slice.events.length < PAGE[this.lane] &&
      !this.#narrow &&
      !this.#services.freshness.isAwaited
    ) {
      return this.#services.freshness.idle(untilNext, signal);
    }
    this.#lastPage = performance.now();
    await this.#commit(events, slice.position);
  }

  /** Checkpoints of unaffected models are saved lazily (every 250 ms), to avoid one update per model and event. */
  #passBy(to: Position): void {
    for (const member of this.#members.all) if (to > member.position) member.position = to;
    this.#unsaved = true;
    this.#report(this.#members.names, to);
  }

  /** True until the next doubt about the log. */
  get #isCurrent(): boolean {
    return this.#services.trust.epoch === this.#epoch;
  }

  /** Since a doubt, positions from before it prove nothing: tables may have gone back. */
  #report(models: readonly string[], position: Position): void {
    if (this.#isCurrent) this.#services.freshness.passed(models, position);
  }

  get #timeoutMs(): number {
    if (!this.#unsaved || this.#services.alone) return IDLE_MS;
    return this.#services.subscription.quietFor(QUIET_MS) ? QUIET_MS : SETTLE_MS;
  }

  async #commit(events: readonly RecordedEvent[], to: Position): Promise<void> {
    const concerned = this.#members.concernedBy(events);
    if (concerned.length === 0) return this.#passBy(to);
    const atHand = !this.#narrow && (await this.#atHand.write(concerned, to));
    if (!atHand) await writePageStepwise(this.#services, concerned, to, this.#narrow);
    for (const { member } of concerned) {
      member.saved = to;
      member.projection.committed();
    }
    this.#passBy(to);
  }

  async #recover(error: Error, signal: AbortSignal): Promise<void> {
    const { log, checkpoints } = this.#services;
    for (const { projection } of this.#members.all) projection.forget();
    if (error instanceof FoldAgain) {
      this.#narrow = false;
      return;
    }
    if ((error instanceof NarrowPage || isRefusal(error)) && !this.#narrow) {
      this.#narrow = true;
      return;
    }
    if (error instanceof ModelsHalted) {
      for (const { member, poison } of error.members) {
        log.fatal(
          { model: member.checkpoint.name, position: String(poison.event.position), reason: poison.error.message },
          'a read model halted',
        );
        await checkpoints.setState(member.checkpoint, 'halted', poison.error.message).catch(() => undefined);
      }
    } else if (!(error instanceof LeaseLost)) {
      log[levelOfFailure(error)]({ lane: this.lane, reason: error.message }, 'a lane failed and will retry');
    }
    this.#failures += 1;
    const giveWay = !this.#services.alone && this.#failures % GIVES_WAY === 0;
    if (giveWay) await this.#members.release();
    this.#members.drop();
    this.#lastLook = Number.NEGATIVE_INFINITY;
    const wait = giveWay ? 2 * IDLE_MS : Math.min(50 * 2 ** this.#failures, 2_000) * Math.random();
    await sleep(wait, undefined, { signal }).catch(() => undefined);
  }
}
