import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import type { EffectRunner } from './effect-runner.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import { processDeadLetterRequest } from './dead-letter-requests.ts';
import { ReactionPage } from './reaction-page.ts';
import type { BacklogTenant, ReactionLease } from './reaction-lease.ts';
import { failureClassOf } from './failure-class.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { TenantBacklogs } from './tenant-backlogs.ts';
import type { DeadLetters } from './dead-letters.ts';
import { processTenantBatch, type ProcessedBatch } from './tenant-batch.ts';

export interface BacklogServices {
  readonly reaction: AnyReaction;
  readonly lease: ReactionLease;
  readonly subscription: CatchUpSubscription;
  readonly deadLetters: DeadLetters;
  readonly backlogs: TenantBacklogs;
  readonly runner: EffectRunner;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called after each turn: with the outage that ended it, or with undefined. */
  readonly heard: (outage: Error | undefined) => void;
}

/** Tenants that are worked at once; the others wait for a slot. This bounds the memory that turns use. */
const OPEN = 8;
/** Events per turn. A telemetry event may hold 500 observations. */
const TURN_EVENTS = 20;
/** A turn ends after this many effects, so that other tenants get a turn. */
const TURN_EFFECTS = 25;
/** An event that fails this often in a row, and not because of an outage, is poison. */
const MAX_TRIES = 5;
/** A tenant whose turns fail this often in a row is named in `/health`. */
const FAILURES_TO_REPORT = 3;
const LONGEST_PAUSE_MS = 10_000;

/** Failures and retries of one tenant. */
interface Standing {
  readonly backlogTenant: BacklogTenant;
  failures: number;
  /** The event that failed last, and how often in a row. */
  failedAt: Position;
  tries: number;
  /** Up to this position, turns take one event at a time, because the database refused one of a batch. */
  narrowUntil: Position;
  isReported: boolean;
}

/**
 * Works the backlogs of tenants that were set aside. Each tenant has a loop of turns. All turns share the slots, in
 * order of arrival, so a long backlog cannot hold up a short one.
 */
export class BacklogWorker {
  readonly #services: BacklogServices;
  readonly #open = new ConcurrencyLimiter(OPEN);
  readonly #loops = new Map<BacklogTenant, Promise<void>>();

  constructor(services: BacklogServices) {
    this.#services = services;
  }

  /** Starts a loop for each tenant that has none yet. */
  start(): void {
    for (const backlogTenant of this.#services.lease.laggards.values()) {
      if (!this.#loops.has(backlogTenant))
        this.#loops.set(
          backlogTenant,
          this.#loop(backlogTenant).finally(() => this.#loops.delete(backlogTenant)),
        );
    }
  }

  /** Resolves once every turn has ended. Abort `signal` first. */
  async ended(): Promise<void> {
    await Promise.all(this.#loops.values());
  }

  async #loop(backlogTenant: BacklogTenant): Promise<void> {
    const { lease, signal } = this.#services;
    const standing: Standing = {
      backlogTenant,
      failures: 0,
      failedAt: -1n,
      tries: 0,
      narrowUntil: -1n,
      isReported: false,
    };
    while (!signal.aborted && lease.laggards.get(backlogTenant.tenantId) === backlogTenant) {
      try {
        await this.#open.run(async () => (signal.aborted ? undefined : this.#turn(standing)));
        standing.failures = 0;
        standing.isReported = false;
        this.#services.heard(undefined);
      } catch (error) {
        if (!signal.aborted) await this.#pause(standing, error as Error);
      }
    }
  }

  async #turn(standing: Standing): Promise<void> {
    const { backlogTenant: laggard } = standing;
    // Parked streams first: the main loop does not work their tenant while it is set aside.
    if (this.#services.lease.hasParked && (await processDeadLetterRequest(this.#services, laggard.tenantId))) return;
    const limit = laggard.position < standing.narrowUntil ? 1 : TURN_EVENTS;
    const { events, to } = await this.#read(laggard, limit);
    // Read while the log came into doubt: perhaps of another log.
    this.#services.signal.throwIfAborted();
    try {
      await this.#work(standing, events, to);
    } catch (error) {
      if (to > laggard.begun) laggard.begun = to;
      // Failures of a fold or an effect name their event. This is a database error, which does not.
      if (error instanceof TurnFailed || failureClassOf(error) === 'outage') throw error;
      if (events.length > 1) standing.narrowUntil = to;
      else await this.#blameEvent(standing, events[0], error as Error);
    }
  }

  async #read(
    { tenantId, position }: BacklogTenant,
    limit: number,
  ): Promise<{ events: RecordedEvent[]; to: Position }> {
    const { subscription, lease, reaction } = this.#services;
    const bound = lease.position;
    const slice = await subscription.readPart(position, limit, { tenantId, types: Object.keys(reaction.on) });
    const to = (slice.events.length < limit && !slice.more) || slice.position > bound ? bound : slice.position;
    const decoded = await subscription.decode(slice.events.filter((event) => event.position <= to));
    return { events: decoded.filter((event) => event !== undefined), to };
  }

  async #work(standing: Standing, events: readonly RecordedEvent[], to: Position): Promise<void> {
    const { reaction, lease: term, runner, signal } = this.#services;
    const { backlogTenant } = standing;
    const parked = await term.parkedAmong(events.map(({ stream }) => stream));
    const flowing = new ReactionPage(
      reaction,
      events.filter(({ stream }) => !parked.has(stream)),
    );
    const behind = events.filter(({ stream }) => parked.has(stream));
    const rows = await term.load(flowing.missing);
    const worked = await processTenantBatch(
      { tenantId: backlogTenant.tenantId, flowing, behind, from: backlogTenant.position, to },
      rows,
      runner,
      { effects: TURN_EFFECTS, atLeastOne: true, signal, mayHaveRun: term.repeated.upTo(backlogTenant.begun) },
    );
    const { interruption } = worked;
    if (!interruption || worked.reached > backlogTenant.position) await this.#pass(backlogTenant, worked);
    if (!interruption) return;
    if (failureClassOf(interruption.error) === 'unclear' && this.#isUsedUp(standing, interruption.event))
      return this.#park(standing, interruption.event, interruption.error);
    throw new TurnFailed(interruption.error.message, { cause: interruption.error });
  }

  /** Handles an event that failed alone. The event need not be the cause. */
  async #blameEvent(standing: Standing, event: RecordedEvent | undefined, error: Error): Promise<void> {
    if (event && (failureClassOf(error) === 'poison' || this.#isUsedUp(standing, event)))
      return this.#park(standing, event, error);
    throw error;
  }

  #isUsedUp(standing: Standing, { position }: RecordedEvent): boolean {
    standing.tries = standing.failedAt === position ? standing.tries + 1 : 1;
    standing.failedAt = position;
    return standing.tries >= MAX_TRIES;
  }

  async #park({ backlogTenant }: Standing, event: RecordedEvent, error: Error): Promise<void> {
    const page = new ReactionPage(this.#services.reaction, []);
    await this.#pass(backlogTenant, {
      tenantId: backlogTenant.tenantId,
      page,
      parked: [{ event, error: error.message }],
      reached: event.position,
      hasActed: false,
      isCut: false,
    });
  }

  async #pass(laggard: BacklogTenant, worked: ProcessedBatch): Promise<void> {
    const { lease, log, reaction } = this.#services;
    await lease.passShare(laggard, worked);
    for (const { event, error } of worked.parked) {
      if (error !== undefined)
        log.error(
          { reaction: reaction.name, stream: event.stream, position: String(event.position), reason: error },
          'a stream was parked',
        );
    }
  }

  async #pause(standing: Standing, error: Error): Promise<void> {
    const { log, reaction, signal, backlogs, lease: term, heard } = this.#services;
    const { tenantId } = standing.backlogTenant;
    standing.failures += 1;
    log.warn({ reaction: reaction.name, tenantId, reason: error.message }, "a reaction will retry a tenant's events");
    if (standing.failures >= FAILURES_TO_REPORT && !standing.isReported) {
      await backlogs.blame(term.checkpoint, tenantId as TenantId, error.message).then(
        () => (standing.isReported = true),
        () => undefined,
      );
    }
    heard(error);
    await sleep(Math.min(100 * 2 ** standing.failures, LONGEST_PAUSE_MS) * Math.random(), undefined, { signal }).catch(
      () => undefined,
    );
  }
}

/** A turn ended before an event that cannot be worked now. */
class TurnFailed extends Error {
  override readonly name = 'TurnFailed';
}
