import type pg from 'pg';
import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '../database/transaction.ts';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import { LeaseLost, type Checkpoint, type Checkpoints } from './checkpoints.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import { foldWithoutEffects } from './fold-without-effects.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { ReactionState } from './reaction-state.ts';
import { failureClassOf } from './failure-class.ts';
import type { TenantBacklogs } from './tenant-backlogs.ts';
import type { DeadLetter } from './tenant-batch.ts';

export interface HistoryServices {
  readonly reaction: AnyReaction;
  readonly state: ReactionState;
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly subscription: Pick<CatchUpSubscription, 'read' | 'decode' | 'wait'>;
  readonly deadLetters: DeadLetters;
  readonly backlogs: TenantBacklogs;
  readonly log: Logger;
}

const PAGE = 500;
const RENEW_MS = 1_000;
const IDLE_MS = 1_000;

const OF = 'name = $1 and version = $2 and generation = $3 and epoch = $4';
const PROGRESS = `select filled_to::text from cursors where ${OF}`;
/**
 * Fenced by the epoch and the previous position, as checkpoints are: a crash of the database may have undone the
 * newest commits.
 */
const PROCEED = `update cursors set filled_to = $5, updated_at = now() where ${OF} and state = 'filling' and filled_to is not distinct from $6`;
const GO_LIVE = `update cursors set state = 'live', failure = null, updated_at = now()
  where ${OF} and state = 'filling' and coalesce(filled_to, 0) >= position`;

/**
 * Folds the state of a new version of a reaction from the log, up to the checkpoint that it took over, without
 * effects. Meanwhile the cursor is `filling`. `position` is the checkpoint, and does not move. `filled_to` is the
 * position up to which the history is folded. It commits with the rows, so a process that takes over after a crash
 * continues there.
 *
 * If a page cannot be written, its events are written one by one. The event at fault is parked with the later events
 * of its stream, as live events are.
 */
export class ReactionHistory {
  readonly #checkpoint: Checkpoint;
  readonly #services: HistoryServices;
  /** The first parked position of each stream. That event and all later ones of the stream wait. */
  #parkedFrom: Map<string, Position> = new Map();
  /** Tenants that are behind the checkpoint, with their position. */
  #behind: ReadonlyMap<TenantId, Position> = new Map();
  #filledTo: Position | null = null;

  constructor(checkpoint: Checkpoint, services: HistoryServices) {
    this.#checkpoint = checkpoint;
    this.#services = services;
  }

  /** Resolves once the cursor is live. Throws `LeaseLost` if another process holds it, and errors of the database. */
  async fold(signal: AbortSignal): Promise<void> {
    const { log, reaction } = this.#services;
    const until = this.#checkpoint.position;
    await this.#begin();
    log.info(
      {
        reaction: reaction.name,
        version: this.#checkpoint.version,
        from: String(this.#filledTo),
        until: String(until),
      },
      'a new version of a reaction folds its state from history',
    );
    const over = new AbortController();
    const renewing = this.#renew(AbortSignal.any([signal, over.signal]));
    try {
      while ((this.#filledTo ?? 0n) < until) await this.#step(signal);
    } finally {
      over.abort();
      await renewing;
    }
    await this.#update(this.#services.pool, GO_LIVE, []);
    log.info({ reaction: reaction.name, version: this.#checkpoint.version }, 'a new version of a reaction is live');
  }

  get #key(): unknown[] {
    const { name, version, generation, epoch } = this.#checkpoint;
    return [name, version, generation, String(epoch)];
  }

  async #begin(): Promise<void> {
    const { pool, backlogs, deadLetters, state } = this.#services;
    const {
      rows: [row],
    } = await pool.query<{ filled_to: string | null }>(PROGRESS, this.#key);
    if (!row) throw new LeaseLost();
    this.#filledTo = row.filled_to === null ? null : BigInt(row.filled_to);
    this.#behind = new Map(
      (await backlogs.ofEach([this.#checkpoint]))[0]!.map(({ tenantId, position }) => [tenantId, position] as const),
    );
    this.#parkedFrom = await deadLetters.firsts(this.#checkpoint);
    // Nothing is folded yet, or positions have changed with the log: existing rows mean nothing.
    if (this.#filledTo === null)
      await transaction(pool, async (client) => {
        await state.clear(client);
        await this.#proceed(client, 0n);
      });
    this.#filledTo ??= 0n;
  }

  async #step(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { subscription } = this.#services;
    const from = this.#filledTo!;
    const slice = await subscription.read(from, PAGE);
    if (slice.position === from) return subscription.wait(from, IDLE_MS, { signal });
    const until = this.#checkpoint.position;
    const to = slice.position < until ? slice.position : until;
    const decoded = await subscription.decode(slice.events.filter((event) => this.#counts(event)));
    // Read while the log came into doubt: perhaps of another log.
    signal.throwIfAborted();
    await this.#pass(
      decoded.filter((event) => event !== undefined),
      to,
    );
  }

  #counts({ type, tenantId, position }: Pick<RecordedEvent, 'type' | 'tenantId' | 'position'>): boolean {
    const { reaction } = this.#services;
    return type in reaction.on && position <= (this.#behind.get(tenantId) ?? this.#checkpoint.position);
  }

  async #pass(events: readonly RecordedEvent[], to: Position): Promise<void> {
    try {
      await this.#commit(events, to);
    } catch (error) {
      if (failureClassOf(error) === 'outage' || events.length === 0) throw error;
      // The database refused one of these events, and does not say which.
      if (events.length === 1) await this.#park(events[0]!, error as Error, to);
      else {
        for (const event of events) await this.#pass([event], event.position);
        await this.#pass([], to);
      }
    }
  }

  async #commit(events: readonly RecordedEvent[], to: Position): Promise<void> {
    const { reaction, state, pool } = this.#services;
    const waits = (event: RecordedEvent) => event.position >= (this.#parkedFrom.get(event.stream) ?? to + 1n);
    const { works, poisoned } = await foldWithoutEffects(
      { reaction, state, pool },
      events.filter((event) => !waits(event)),
      'leave out the stream',
    );
    const errors = new Map(poisoned.map(({ event, error }) => [event, error.message]));
    const firsts = new Map(poisoned.map(({ event }) => [event.stream, event.position]));
    const parked = events
      .filter((event) => waits(event) || event.position >= (firsts.get(event.stream) ?? to + 1n))
      .map((event): DeadLetter => ({ event, ...(errors.has(event) ? { error: errors.get(event)! } : {}) }));
    await this.#write(works, parked, to);
  }

  async #park(event: RecordedEvent, error: Error, to: Position): Promise<void> {
    await this.#write([], [{ event, error: error.message }], to);
  }

  async #write(
    works: Parameters<ReactionState['save']>[1],
    parked: readonly DeadLetter[],
    to: Position,
  ): Promise<void> {
    const { pool, state, deadLetters, log, reaction } = this.#services;
    if (to === this.#filledTo && parked.length === 0) return;
    await transaction(pool, async (client) => {
      await state.save(client, works);
      if (parked.length > 0) await deadLetters.parkAll(client, this.#checkpoint, parked);
      await this.#proceed(client, to);
    });
    this.#filledTo = to;
    for (const { event, error } of parked) {
      if (error === undefined) continue;
      this.#parkedFrom.set(event.stream, event.position);
      log.error(
        { reaction: reaction.name, stream: event.stream, position: String(event.position), reason: error },
        'a stream was parked',
      );
    }
  }

  async #proceed(client: pg.PoolClient, to: Position): Promise<void> {
    await this.#update(client, PROCEED, [String(to), this.#filledTo === null ? null : String(this.#filledTo)]);
  }

  async #update(client: Pick<pg.PoolClient, 'query'>, text: string, values: readonly unknown[]): Promise<void> {
    const { rowCount } = await client.query(text, [...this.#key, ...values]);
    if (rowCount !== 1) throw new LeaseLost();
  }

  /** Renews the lease each second, however long a page takes. A lost lease shows at the next write. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { position } = this.#checkpoint;
    while (!signal.aborted) {
      await sleep(RENEW_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted)
        await this.#services.checkpoints
          .renew([{ checkpoint: this.#checkpoint, from: position, to: position }])
          .catch(() => undefined);
    }
  }
}
