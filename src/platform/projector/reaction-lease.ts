import type pg from 'pg';
import { START, type Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { transaction } from '../database/transaction.ts';
import { KeyedMutex } from '../execution/keyed-mutex.ts';
import { LeaseLost, type Checkpoint, type Checkpoints } from './checkpoints.ts';
import type { DueJob, EffectRunner } from './effect-runner.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { ReactionState } from './reaction-state.ts';
import { failureClassOf } from './failure-class.ts';
import type { LeaseStart, LeaseStarts } from './lease-starts.ts';
import type { TenantBacklogs } from './tenant-backlogs.ts';
import { RepeatedEffects } from './repeated-effects.ts';
import type { TableRow } from './table.ts';
import type { DeadLetter, ProcessedBatch } from './tenant-batch.ts';

export interface ReactionLeaseServices {
  readonly pool: pg.Pool;
  readonly checkpoints: Checkpoints;
  readonly backlogs: TenantBacklogs;
  readonly deadLetters: DeadLetters;
  readonly state: ReactionState;
  readonly runner: EffectRunner;
  readonly leaseStarts: LeaseStarts;
}

/** A tenant that was set aside, and the progress of its backlog. */
export interface BacklogTenant {
  readonly tenantId: TenantId;
  /** All events of the tenant up to here are worked or parked. */
  position: Position;
  /** No event of the tenant that was left out is after this position. */
  latest: Position;
  /** Effects of events up to here may have run under this lease, before they failed or could not be written. */
  begun: Position;
}

/** The results of a page, to be written. */
export interface PageOutcome {
  readonly worked: readonly ProcessedBatch[];
  /** Tenants to be set aside, each with its position. */
  readonly setAside: ReadonlyMap<TenantId, Position>;
}

const CHECKPOINT = 'checkpoint';

/**
 * The period in which this process holds the lease of a reaction: its checkpoint, the checkpoints of tenants that are
 * set aside, and their writes. Writes run one after the other and are fenced by the lease. So at any moment, also
 * after a crash, each event is either before the checkpoint of its tenant and worked or parked, or after it.
 */
export class ReactionLease {
  readonly #services: ReactionLeaseServices;
  readonly repeated: RepeatedEffects;
  readonly #mutex = new KeyedMutex();
  readonly #laggards = new Map<TenantId, BacklogTenant>();
  readonly #end = new AbortController();
  /** As saved in the database. */
  #checkpoint: Checkpoint;
  /** How far the log was read; may be ahead of the saved checkpoint. */
  #position: Position;
  /** True if a stream may be parked. Only then is every event's stream looked up. */
  #hasParked: boolean;

  static async begin(checkpoint: Checkpoint, services: ReactionLeaseServices): Promise<ReactionLease> {
    return new ReactionLease(checkpoint, services, await services.leaseStarts.of(checkpoint));
  }

  private constructor(cursor: Checkpoint, services: ReactionLeaseServices, { backlogs, hasParked, head }: LeaseStart) {
    this.#checkpoint = cursor;
    this.#position = cursor.position;
    this.#services = services;
    this.#hasParked = hasParked;
    this.repeated = new RepeatedEffects(head);
    for (const { tenantId, position } of backlogs)
      this.#laggards.set(tenantId, { tenantId, position, latest: cursor.position, begun: START });
  }

  /** Aborted, with the reason, when nothing more can be written under this lease. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  get position(): Position {
    return this.#position;
  }

  /** The log was read further than the saved checkpoint. */
  get isUnsaved(): boolean {
    return this.#position !== this.#checkpoint.position;
  }

  get hasParked(): boolean {
    return this.#hasParked;
  }

  get laggards(): ReadonlyMap<TenantId, BacklogTenant> {
    return this.#laggards;
  }

  /** Returns those of these streams that are parked. */
  async parkedAmong(streams: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#hasParked && streams.length > 0
      ? this.#services.deadLetters.among(this.#checkpoint, streams)
      : new Set();
  }

  /**
   * Rows of state to react on. Throws `LeaseLost` if a successor may have moved them: on its rows, an event that is worked
   * again asks for other effects, under the same ids. Pages without state are confirmed, too, once the lease may be over.
   */
  async load(keys: readonly TableRow[]): Promise<TableRow[]> {
    const { pool, checkpoints, state } = this.#services;
    const rows = await state.load(pool, keys);
    if ((keys.length > 0 && state.isKept) || this.repeated.isOverdue)
      await this.#mutex.run(CHECKPOINT, () => this.#orEnd(() => checkpoints.confirm(this.#checkpoint)));
    return rows;
  }

  /** Divides a page while no tenant joins or leaves the ones set aside. The division holds until the page is passed. */
  divide<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(CHECKPOINT, work);
  }

  /**
   * Moves the checkpoint to the end of a page. Events that changed nothing, and whose commands found nothing to do, need
   * no transaction: if they are read again after a crash, they again change nothing.
   */
  async passPage(to: Position, { worked, setAside }: PageOutcome): Promise<void> {
    await this.#mutex.run(CHECKPOINT, async () => {
      const jobs = await this.#jobsOf(worked);
      const isNothing =
        setAside.size === 0 &&
        jobs.length === 0 &&
        worked.every(({ page, parked, hasActed }) => !hasActed && page.work.isClean && parked.length === 0);
      if (!isNothing) {
        await this.#commit(to, async (client) => {
          await this.#write(client, worked, jobs);
          await this.#services.backlogs.setAside(client, this.#checkpoint, setAside);
        });
      }
      this.#position = to;
      this.#note(worked);
      for (const [tenantId, position] of setAside)
        this.#laggards.set(tenantId, { tenantId, position, latest: to, begun: to });
    });
  }

  /** Moves a tenant that is set aside. Once it has reached the last event that was left out, it rejoins the others. */
  async passShare(backlogTenant: BacklogTenant, worked: ProcessedBatch): Promise<void> {
    const { tenantId } = backlogTenant;
    await this.#mutex.run(CHECKPOINT, async () => {
      const { backlogs } = this.#services;
      const hasCaughtUp = worked.reached >= backlogTenant.latest;
      const jobs = await this.#jobsOf([worked]);
      await this.#commit(this.#position, async (client) => {
        await this.#write(client, [worked], jobs);
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

  /** Writes the results of parked events. The tenant's checkpoint does not move. */
  async passParked(worked: ProcessedBatch, release: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    await this.#mutex.run(CHECKPOINT, async () => {
      const jobs = await this.#jobsOf([worked]);
      await this.#commit(this.#position, async (client) => {
        await this.#write(client, [worked], jobs);
        await release(client);
      });
    });
  }

  /** Renews the lease and saves how far the log was read. */
  async keep(): Promise<void> {
    await this.#mutex.run(CHECKPOINT, async () => {
      const [to, at] = [this.#position, performance.now()];
      await this.#orEnd(() =>
        this.#services.checkpoints.renew([{ checkpoint: this.#checkpoint, from: this.#checkpoint.position, to }]),
      );
      this.repeated.held(at);
      this.#checkpoint = { ...this.#checkpoint, position: to };
    });
  }

  /** Checks whether any stream is still parked. Call only while no page and no batch is being worked. */
  async lookForParked(): Promise<void> {
    if (this.#hasParked) this.#hasParked = await this.#services.deadLetters.hasAny(this.#checkpoint);
  }

  async #commit(to: Position, write: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const { pool, checkpoints } = this.#services;
    const at = performance.now();
    await this.#orEnd(() =>
      transaction(pool, write, (client) =>
        checkpoints.advance(client, [{ checkpoint: this.#checkpoint, from: this.#checkpoint.position, to }]),
      ),
    );
    this.repeated.held(at);
    this.#checkpoint = { ...this.#checkpoint, position: to };
  }

  /** After a write with an unknown outcome, this object may be out of date: it writes nothing more. */
  async #orEnd(write: () => Promise<void>): Promise<void> {
    if (this.#end.signal.aborted) throw new LeaseLost();
    try {
      await write();
    } catch (error) {
      if (failureClassOf(error) === 'outage') this.#end.abort(error);
      throw error;
    }
  }

  #jobsOf(worked: readonly ProcessedBatch[]): Promise<readonly DueJob[]> {
    return this.#services.runner.jobsOf(worked.flatMap(({ page }) => page.due));
  }

  async #write(client: pg.PoolClient, worked: readonly ProcessedBatch[], jobs: readonly DueJob[]): Promise<void> {
    const { state, deadLetters, runner } = this.#services;
    await state.save(
      client,
      worked.map(({ page }) => page.work),
    );
    await runner.enqueue(client, jobs);
    const parked = worked.flatMap((one): readonly DeadLetter[] => one.parked);
    if (parked.length > 0) await deadLetters.parkAll(client, this.#checkpoint, parked);
  }

  #note(worked: readonly ProcessedBatch[]): void {
    if (worked.some(({ parked }) => parked.length > 0)) this.#hasParked = true;
  }
}
