import type pg from 'pg';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { transaction } from '../database/transaction.ts';
import { KeyedMutex } from '../execution/keyed-mutex.ts';
import { LeaseLost, type Checkpoint, type Checkpoints } from './checkpoints.ts';
import type { EffectRunner } from './effect-runner.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { ReactionState } from './reaction-state.ts';
import { failureClassOf } from './failure-class.ts';
import type { Backlog, TenantBacklogs } from './tenant-backlogs.ts';
import type { DeadLetter, ProcessedBatch } from './tenant-batch.ts';

export interface ReactionLeaseServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly backlogs: TenantBacklogs;
  readonly deadLetters: DeadLetters;
  readonly state: ReactionState;
  readonly runner: EffectRunner;
}

/** A tenant that was set aside, as this process works its backlog. */
export interface BacklogTenant {
  readonly tenantId: TenantId;
  /** Everything of the tenant up to here is worked or parked. */
  position: Position;
  /** Nothing of the tenant that was left out stands behind this. */
  latest: Position;
}

/** What a page of the feed leaves to be written. */
export interface PageOutcome {
  readonly worked: readonly ProcessedBatch[];
  /** Tenants to be set aside, each with how far it has come. */
  readonly setAside: ReadonlyMap<TenantId, Position>;
}

const CHECKPOINT = 'checkpoint';

/**
 * The time during which this process holds the lease of a reaction: its checkpoint, the checkpoints of tenants that are set aside
 * behind it, and their writes. All writes go one after the other and are fenced by the lease, so that at any moment, also after a
 * crash, each event is either before the checkpoint that counts for its tenant and worked or parked, or behind it.
 */
export class ReactionLease {
  readonly #services: ReactionLeaseServices;
  readonly #mutex = new KeyedMutex();
  readonly #laggards = new Map<TenantId, BacklogTenant>();
  readonly #end = new AbortController();
  /** As it stands in the database. */
  #checkpoint: Checkpoint;
  /** How far the feed was read; at times further than what is saved. */
  #position: Position;
  /** Some stream may be parked; only then every event's is looked for. */
  #hasParked: boolean;

  static async begin(checkpoint: Checkpoint, services: ReactionLeaseServices): Promise<ReactionLease> {
    const [backlogs, hasParked] = await Promise.all([
      services.backlogs.of(checkpoint),
      services.deadLetters.hasAny(checkpoint),
    ]);
    return new ReactionLease(checkpoint, services, backlogs, hasParked);
  }

  private constructor(
    cursor: Checkpoint,
    services: ReactionLeaseServices,
    backlogs: readonly Backlog[],
    hasParked: boolean,
  ) {
    this.#checkpoint = cursor;
    this.#position = cursor.position;
    this.#services = services;
    this.#hasParked = hasParked;
    for (const { tenantId, position } of backlogs)
      this.#laggards.set(tenantId, { tenantId, position, latest: cursor.position });
  }

  /** Aborted, with the reason, when nothing more can be written in this term. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  get position(): Position {
    return this.#position;
  }

  /** The feed was read further than the database knows. */
  get isUnsaved(): boolean {
    return this.#position !== this.#checkpoint.position;
  }

  get hasParked(): boolean {
    return this.#hasParked;
  }

  get laggards(): ReadonlyMap<TenantId, BacklogTenant> {
    return this.#laggards;
  }

  /** Streams of these that are parked. */
  async parkedAmong(streams: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#hasParked && streams.length > 0
      ? this.#services.deadLetters.among(this.#checkpoint, streams)
      : new Set();
  }

  /** Divides a page while no tenant joins or leaves those that are set aside: the answer holds until the page is passed. */
  divide<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(CHECKPOINT, work);
  }

  /** Moves the checkpoint behind a page of the feed. Events that changed nothing need no transaction: seen again after a crash, they change nothing again. */
  async passPage(to: Position, { worked, setAside }: PageOutcome): Promise<void> {
    await this.#mutex.run(CHECKPOINT, async () => {
      const isNothing =
        setAside.size === 0 &&
        worked.every(({ page, parked }) => page.work.isClean && page.due.length === 0 && parked.length === 0);
      if (!isNothing) {
        await this.#commit(to, async (client) => {
          await this.#write(client, worked);
          await this.#services.backlogs.setAside(client, this.#checkpoint, setAside);
        });
      }
      this.#position = to;
      this.#note(worked);
      for (const [tenantId, position] of setAside) this.#laggards.set(tenantId, { tenantId, position, latest: to });
    });
  }

  /** Moves a tenant that is set aside. Once it has come to the last event that was left out, it goes with the others again. */
  async passShare(backlogTenant: BacklogTenant, worked: ProcessedBatch): Promise<void> {
    const { tenantId } = backlogTenant;
    await this.#mutex.run(CHECKPOINT, async () => {
      const { backlogs } = this.#services;
      const hasCaughtUp = worked.reached >= backlogTenant.latest;
      await this.#commit(this.#position, async (client) => {
        await this.#write(client, [worked]);
        if (hasCaughtUp) await backlogs.remove(client, this.#checkpoint, backlogTenant);
        else
          await backlogs.move(
            client,
            this.#checkpoint,
            backlogTenant,
            worked.reached,
            worked.interruption !== undefined,
          );
      });
      this.#note([worked]);
      backlogTenant.position = worked.reached;
      if (hasCaughtUp) this.#laggards.delete(tenantId);
    });
  }

  /** Writes what became of parked events, whose tenant stays where it is. */
  async passParked(worked: ProcessedBatch, release: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    await this.#mutex.run(CHECKPOINT, () =>
      this.#commit(this.#position, async (client) => {
        await this.#write(client, [worked]);
        await release(client);
      }),
    );
  }

  /** Prolongs the lease and saves how far the feed was read. */
  async keep(): Promise<void> {
    await this.#mutex.run(CHECKPOINT, async () => {
      const to = this.#position;
      await this.#orEnd(() =>
        this.#services.checkpoints.renew([{ checkpoint: this.#checkpoint, from: this.#checkpoint.position, to }]),
      );
      this.#checkpoint = { ...this.#checkpoint, position: to };
    });
  }

  /** Looks whether anything is still parked. Only while no page and no share is being worked. */
  async lookForParked(): Promise<void> {
    if (this.#hasParked) this.#hasParked = await this.#services.deadLetters.hasAny(this.#checkpoint);
  }

  async #commit(to: Position, write: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const { pool, checkpoints } = this.#services;
    await this.#orEnd(() =>
      transaction(pool, write, (client) =>
        checkpoints.advance(client, [{ checkpoint: this.#checkpoint, from: this.#checkpoint.position, to }]),
      ),
    );
    this.#checkpoint = { ...this.#checkpoint, position: to };
  }

  /** After a write whose outcome is not known, what is remembered here may be of before: nothing more is written in this term. */
  async #orEnd(write: () => Promise<void>): Promise<void> {
    if (this.#end.signal.aborted) throw new LeaseLost();
    try {
      await write();
    } catch (error) {
      if (failureClassOf(error) === 'outage') this.#end.abort(error);
      throw error;
    }
  }

  async #write(client: pg.PoolClient, worked: readonly ProcessedBatch[]): Promise<void> {
    const { state, deadLetters, runner } = this.#services;
    await state.save(
      client,
      worked.map(({ page }) => page.work),
    );
    for (const { page } of worked) await runner.enqueue(client, page.due);
    const parked = worked.flatMap((one): readonly DeadLetter[] => one.parked);
    if (parked.length > 0) await deadLetters.parkAll(client, this.#checkpoint, parked);
  }

  #note(worked: readonly ProcessedBatch[]): void {
    if (worked.some(({ parked }) => parked.length > 0)) this.#hasParked = true;
  }
}
