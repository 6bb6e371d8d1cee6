import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position, Recorded } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import type { EffectRunner } from './effect-runner.ts';
import type { FeedTail } from './feed-tail.ts';
import { workParked } from './parked-turn.ts';
import { ReactionPage } from './reaction-page.ts';
import type { ReactionState } from './reaction-state.ts';
import type { Laggard, ReactionTerm } from './reaction-term.ts';
import { setbackOf } from './setback.ts';
import { Slots } from './slots.ts';
import type { TenantBacklogs } from './tenant-backlogs.ts';
import type { Parking } from './parking.ts';
import { workShare, type Worked } from './tenant-share.ts';

export interface BacklogServices {
  readonly reaction: AnyReaction;
  readonly term: ReactionTerm;
  readonly pool: pg.Pool;
  readonly tail: FeedTail;
  readonly state: ReactionState;
  readonly parking: Parking;
  readonly backlogs: TenantBacklogs;
  readonly runner: EffectRunner;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Told of each turn: whether it came to an end, or what it met that is away. */
  readonly heard: (outage: Error | undefined) => void;
}

/** So many tenants are worked at once; the others wait for a turn. What they hold in memory is bounded by it. */
const OPEN = 8;
/** Events of a turn: of telemetry each may hold 500 observations. */
const TURN_EVENTS = 20;
/** A turn ends once so many effects were run, so that the next tenant has its own. */
const TURN_EFFECTS = 25;
/** An event that failed so often in a row, and not because something was away, is poison. */
const MOST_TRIES = 5;
/** A tenant whose turns failed so often in a row is named in `/health`. */
const WORTH_TELLING = 3;
const LONGEST_PAUSE_MS = 10_000;

/** How the turns of one tenant went. */
interface Standing {
  readonly laggard: Laggard;
  failures: number;
  /** The event that failed last, and how often in a row. */
  failedAt: Position;
  tries: number;
  /** Up to here one event at a time: the database refused something of them. */
  narrowUntil: Position;
  isTold: boolean;
}

/**
 * Works the backlogs of tenants that were set aside. Each tenant has a loop of turns, and the turns of all take their slots in the
 * order in which they come: a long backlog waits behind a short one as often as the other way round.
 */
export class BacklogWorker {
  readonly #services: BacklogServices;
  readonly #open = new Slots(OPEN);
  readonly #loops = new Map<Laggard, Promise<void>>();

  constructor(services: BacklogServices) {
    this.#services = services;
  }

  /** Begins with the tenants that have no loop yet. */
  start(): void {
    for (const laggard of this.#services.term.laggards.values()) {
      if (!this.#loops.has(laggard))
        this.#loops.set(
          laggard,
          this.#loop(laggard).finally(() => this.#loops.delete(laggard)),
        );
    }
  }

  /** Resolves once every turn has ended; `signal` is to be aborted before. */
  async ended(): Promise<void> {
    await Promise.all(this.#loops.values());
  }

  async #loop(laggard: Laggard): Promise<void> {
    const { term, signal } = this.#services;
    const standing: Standing = { laggard, failures: 0, failedAt: -1n, tries: 0, narrowUntil: -1n, isTold: false };
    while (!signal.aborted && term.laggards.get(laggard.tenantId) === laggard) {
      try {
        await this.#open.take(async () => (signal.aborted ? undefined : this.#turn(standing)));
        standing.failures = 0;
        standing.isTold = false;
        this.#services.heard(undefined);
      } catch (error) {
        if (!signal.aborted) await this.#pause(standing, error as Error);
      }
    }
  }

  async #turn(standing: Standing): Promise<void> {
    const { laggard } = standing;
    // Parked streams first: their tenant is not worked elsewhere while it is set aside.
    if (this.#services.term.hasParked && (await workParked(this.#services, laggard.tenantId))) return;
    const limit = laggard.position < standing.narrowUntil ? 1 : TURN_EVENTS;
    const { events, to } = await this.#read(laggard, limit);
    try {
      await this.#work(standing, events, to);
    } catch (error) {
      // What failed in a fold or in an effect was met there. This is the database, which does not say of which event it speaks.
      if (error instanceof TurnFailed || setbackOf(error) === 'outage') throw error;
      if (events.length > 1) standing.narrowUntil = to;
      else await this.#blameEvent(standing, events[0], error as Error);
    }
  }

  async #read({ tenantId, position }: Laggard, limit: number): Promise<{ events: Recorded[]; to: Position }> {
    const { tail, term, reaction } = this.#services;
    const bound = term.position;
    const slice = await tail.readPart(position, limit, { tenantId, types: Object.keys(reaction.on) });
    const to = (slice.events.length < limit && !slice.more) || slice.position > bound ? bound : slice.position;
    const decoded = await tail.decode(slice.events.filter((event) => event.position <= to));
    return { events: decoded.filter((event) => event !== undefined), to };
  }

  async #work(standing: Standing, events: readonly Recorded[], to: Position): Promise<void> {
    const { reaction, term, pool, state, runner, signal } = this.#services;
    const { laggard } = standing;
    const parked = await term.parkedAmong(events.map(({ stream }) => stream));
    const flowing = new ReactionPage(
      reaction,
      events.filter(({ stream }) => !parked.has(stream)),
    );
    const behind = events.filter(({ stream }) => parked.has(stream));
    const rows = await state.load(pool, flowing.missing);
    const worked = await workShare(
      { tenantId: laggard.tenantId, flowing, behind, from: laggard.position, to },
      rows,
      runner,
      { effects: TURN_EFFECTS, atLeastOne: true, signal },
    );
    const { interruption } = worked;
    if (!interruption || worked.reached > laggard.position) await this.#pass(laggard, worked);
    if (!interruption) return;
    if (setbackOf(interruption.error) === 'unclear' && this.#isUsedUp(standing, interruption.event))
      return this.#park(standing, interruption.event, interruption.error);
    throw new TurnFailed(interruption.error.message, { cause: interruption.error });
  }

  /** One event that failed by itself for a reason that need not be its own. */
  async #blameEvent(standing: Standing, event: Recorded | undefined, error: Error): Promise<void> {
    if (event && (setbackOf(error) === 'poison' || this.#isUsedUp(standing, event)))
      return this.#park(standing, event, error);
    throw error;
  }

  #isUsedUp(standing: Standing, { position }: Recorded): boolean {
    standing.tries = standing.failedAt === position ? standing.tries + 1 : 1;
    standing.failedAt = position;
    return standing.tries >= MOST_TRIES;
  }

  async #park({ laggard }: Standing, event: Recorded, error: Error): Promise<void> {
    const page = new ReactionPage(this.#services.reaction, []);
    await this.#pass(laggard, {
      tenantId: laggard.tenantId,
      page,
      parked: [{ event, error: error.message }],
      reached: event.position,
      isCut: false,
    });
  }

  async #pass(laggard: Laggard, worked: Worked): Promise<void> {
    const { term, log, reaction } = this.#services;
    await term.passShare(laggard, worked);
    for (const { event, error } of worked.parked) {
      if (error !== undefined)
        log.error(
          { reaction: reaction.name, stream: event.stream, position: String(event.position), reason: error },
          'a stream was parked',
        );
    }
  }

  async #pause(standing: Standing, error: Error): Promise<void> {
    const { log, reaction, signal, backlogs, term, heard } = this.#services;
    const { tenantId } = standing.laggard;
    standing.failures += 1;
    log.warn(
      { reaction: reaction.name, tenantId, reason: error.message },
      "a reaction will try a tenant's events again",
    );
    if (standing.failures >= WORTH_TELLING && !standing.isTold) {
      await backlogs.blame(term.cursor, tenantId as TenantId, error.message).then(
        () => (standing.isTold = true),
        () => undefined,
      );
    }
    heard(error);
    await sleep(Math.min(100 * 2 ** standing.failures, LONGEST_PAUSE_MS) * Math.random(), undefined, { signal }).catch(
      () => undefined,
    );
  }
}

/** A turn ended before an event that could not be worked now. */
class TurnFailed extends Error {
  override readonly name = 'TurnFailed';
}
