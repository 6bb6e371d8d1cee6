import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position } from '../kernel/event.ts';
import type { AnyReadModel, Lane } from '../kernel/read-model.ts';
import { transaction } from '../database/transaction.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { LogTrust } from '../eventstore/log-trust.ts';
import type { EventStore } from '../eventstore/port.ts';
import { Checkpoints, type Checkpoint } from './checkpoints.ts';
import { CatchUpSubscription } from './catch-up-subscription.ts';
import { replayIntoTable } from './table-replay.ts';
import { Freshness } from './freshness.ts';
import { LaneRunner } from './lane-runner.ts';
import { DeadLetters } from './dead-letters.ts';
import { Projection, tableShapeOf } from './projection.ts';
import { createTable, serveTable, tableName } from './table.ts';
import { TenantBacklogs } from './tenant-backlogs.ts';

export interface ProjectorOptions {
  readonly pool: pg.Pool;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly subscription: CatchUpSubscription;
  readonly models: readonly AnyReadModel[];
  readonly freshness: Freshness;
  readonly trust: LogTrust;
  readonly log: Logger;
  /** No other process works on this database: none holds its leases or reads its checkpoints. */
  readonly alone: boolean;
}

const FILL_AGAIN_MS = 1_000;
const LANES: readonly Lane[] = ['main', 'telemetry'];

/**
 * Runs the read side: makes sure that every declared model has a table and a cursor, rebuilds new ones, runs the
 * lanes.
 */
export class Projector {
  readonly checkpoints: Checkpoints;
  readonly deadLetters: DeadLetters;
  readonly backlogs: TenantBacklogs;
  readonly #options: ProjectorOptions;
  readonly #lanes: readonly LaneRunner[];
  readonly #stop = new AbortController();
  #filling: Promise<void> | undefined;

  constructor(options: ProjectorOptions) {
    const { pool, subscription, freshness, trust, log, alone, models } = options;
    this.#options = options;
    this.checkpoints = new Checkpoints(pool, randomUUID());
    this.deadLetters = new DeadLetters(pool);
    this.backlogs = new TenantBacklogs(pool);
    const services = {
      pool,
      checkpoints: this.checkpoints,
      deadLetters: this.deadLetters,
      subscription,
      freshness,
      trust,
      log,
      alone,
    };
    this.#lanes = LANES.map((lane) => new LaneRunner(lane, models, services));
  }

  /** Creates missing tables, so that queries find every name. A new model starts to rebuild. */
  async prepare(): Promise<void> {
    const { store, models } = this.#options;
    const head = await store.head();
    const known = await this.checkpoints.all();
    for (const model of models) await this.#ensure(model, head, known);
  }

  async start(): Promise<void> {
    await this.prepare();
    for (const lane of this.#lanes) lane.start();
    this.#filling = this.#fillAll();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#lanes.map((lane) => lane.stop()), this.#filling]);
  }

  /** Retires rebuilds that are not served yet: they were built from another log. */
  async discardUnserved(): Promise<void> {
    const { pool } = this.#options;
    await pool.query(
      `update cursors set state = 'retired', epoch = epoch + 1, leased_until = '-infinity' where kind = 'model' and state = 'filling'`,
    );
  }

  /** Every cursor, with the seconds since it last moved. */
  async progress(): Promise<(Checkpoint & { idleSeconds: number; failure: string | null })[]> {
    const [cursors, { rows }] = await Promise.all([
      this.checkpoints.all(),
      this.#options.pool.query<{
        name: string;
        version: number;
        generation: number;
        idle: number;
        failure: string | null;
      }>(
        'select name, version, generation, extract(epoch from now() - updated_at)::float8 as idle, failure from cursors',
      ),
    ]);
    return cursors.map((checkpoint) => {
      const row = rows.find(
        ({ name, version, generation }) =>
          name === checkpoint.name && version === checkpoint.version && generation === checkpoint.generation,
      );
      return { ...checkpoint, idleSeconds: row?.idle ?? 0, failure: row?.failure ?? null };
    });
  }

  /** True while this process moves every lane. */
  get leads(): boolean {
    return this.#lanes.every(({ leads }) => leads);
  }

  async livePositions(): Promise<ReadonlyMap<string, Position>> {
    return new Map(
      (await this.checkpoints.all())
        .filter(({ state }) => state === 'live')
        .map(({ name, position }) => [name, position]),
    );
  }

  /** Declared models that are not reliable yet: rebuilding, halted, or behind the log without progress for seconds. */
  async lagging(): Promise<string[]> {
    const head = await this.#options.store.head();
    const declared = new Set(this.#options.models.map(({ name, version }) => `${name} ${version}`));
    return (await this.progress())
      .filter(({ name, version, state }) => declared.has(`${name} ${version}`) && state !== 'retired')
      .filter(({ state, position, idleSeconds }) => state !== 'live' || (position < head && idleSeconds > 5))
      .map(({ name }) => name);
  }

  /** Describes impairments for `/health`; undefined when all is well. */
  async impairment(): Promise<string | undefined> {
    const halted = (await this.checkpoints.all()).filter(({ state }) => state === 'halted').map(({ name }) => name);
    const parked = await this.deadLetters.names();
    const held = await this.backlogs.stuck();
    const stuck = [...new Set([...(await this.checkpoints.stuck()), ...held])].toSorted();
    const parts = [
      halted.length > 0 && `halted: ${halted.join(', ')}`,
      stuck.length > 0 && `stuck: ${stuck.join(', ')}`,
      parked.length > 0 && `parked streams in: ${parked.join(', ')}`,
    ];
    return parts.filter(Boolean).join('; ') || undefined;
  }

  async #ensure(model: AnyReadModel, head: Position, known: readonly Checkpoint[]): Promise<void> {
    if (
      known.some(({ name, version, state }) => name === model.name && version === model.version && state !== 'retired')
    )
      return;
    const served = known.some(({ name, state }) => name === model.name && state === 'live');
    const generation =
      1 +
      Math.max(
        0,
        ...known
          .filter(({ name, version }) => name === model.name && version === model.version)
          .map((checkpoint) => checkpoint.generation),
      );
    const table = tableName(model.name, model.version, generation);
    const { name, version, lane } = model;
    const state = head === 0n ? 'live' : 'filling';
    await this.checkpoints.ensure(
      { name, version, generation, lane, kind: 'model', state, position: 0n },
      async (client) => {
        await client.query(createTable(tableShapeOf(model), table));
        // If nothing is served yet, an incomplete table is better than none; `/ready` reports that it lags.
        if (!served) await client.query(serveTable(name, table));
      },
    );
  }

  /** Rebuilds the models that are behind, one after the other, and hands them to the lanes. */
  async #fillAll(): Promise<void> {
    const { models, log } = this.#options;
    let seize = this.#options.alone;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#options.trust.assured();
        const keys = models.map(({ name, version }) => ({ name, version }));
        const mine = await this.checkpoints.acquire(keys, ['filling'], seize);
        seize = false;
        for (const checkpoint of mine) await this.#tryToFill(checkpoint);
        if (!(await this.#someoneFills())) return;
      } catch (error) {
        if (!signal.aborted) log.error({ reason: (error as Error).message }, 'read models could not be rebuilt');
      }
      // Failed rebuilds are retried. Those of another process are taken over if it dies.
      await sleep(FILL_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** A model that cannot be rebuilt does not hold up the others. */
  async #tryToFill(cursor: Checkpoint): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.replayCheckpoint(cursor, { signal });
    } catch (error) {
      if (!signal.aborted)
        this.#options.log.error(
          { model: cursor.name, reason: (error as Error).message },
          'a read model could not be rebuilt',
        );
    }
  }

  async #someoneFills(): Promise<boolean> {
    const { models } = this.#options;
    return (await this.checkpoints.all()).some(
      ({ name, version, state }) =>
        state === 'filling' && models.some((model) => model.name === name && model.version === version),
    );
  }

  /** Rebuilds the table of one held cursor up to the end of the log, then serves it instead of the previous one. */
  async replayCheckpoint(
    checkpoint: Checkpoint,
    options: { signal?: AbortSignal; onProgress?: Parameters<typeof replayIntoTable>[1]['onProgress'] } = {},
  ): Promise<void> {
    const { store, codec, pool, models } = this.#options;
    const model = models.find(({ name, version }) => name === checkpoint.name && version === checkpoint.version)!;
    let saved = checkpoint.position;
    const position = await replayIntoTable(
      { store, codec, pool },
      {
        model,
        generation: checkpoint.generation,
        from: checkpoint.position,
        empty: checkpoint.position === 0n,
        checkpoint: async (client, to) => {
          await this.checkpoints.advance(client, [{ checkpoint, from: saved, to }]);
          saved = to;
        },
        ...(options.signal ? { signal: options.signal } : {}),
        ...(options.onProgress ? { onProgress: options.onProgress } : {}),
      },
    );
    await this.#serve({ ...checkpoint, position }, model);
  }

  /**
   * The switch: queries see the new table, the previous cursors retire, and a lane takes the lease. The lane waits
   * meanwhile, and the new table is first folded up to the position of the previous one, so that no read goes back in
   * time.
   */
  async #serve(cursor: Checkpoint, model: AnyReadModel): Promise<void> {
    const { name, version, generation } = cursor;
    await transaction(this.#options.pool, async (client) => {
      const {
        rows: [before],
      } = await client.query<{ position: string }>(
        `select position::text from cursors where name = $1 and state = 'live' for update`,
        [name],
      );
      const to = await this.#foldUpTo(client, cursor, model, BigInt(before?.position ?? 0));
      await this.checkpoints.advance(client, [{ checkpoint: cursor, from: cursor.position, to }]);
      await client.query(serveTable(name, tableName(name, version, generation)));
      await client.query(
        `update cursors set state = case when version = $2 and generation = $3 then 'live' else 'retired' end,
                leased_until = '-infinity', epoch = epoch + 1
          where name = $1 and state <> 'retired'`,
        [name, version, generation],
      );
    });
  }

  async #foldUpTo(
    client: pg.PoolClient,
    { position, generation }: Checkpoint,
    model: AnyReadModel,
    target: Position,
  ): Promise<Position> {
    const { store, codec } = this.#options;
    const projection = new Projection(model, generation);
    let reached = position;
    while (reached < target) {
      const page = await store.readAll(reached, 5_000);
      const missed = page.events.filter((event) => event.position <= target && projection.wants(event.type));
      const [poison] = await projection.apply(
        client,
        (await codec.decode(missed)).filter((event) => event !== undefined),
      );
      if (poison) throw poison.error;
      projection.committed();
      reached = page.position < target ? page.position : target;
      if (page.events.length === 0 && !page.more) break;
    }
    return reached;
  }
}
